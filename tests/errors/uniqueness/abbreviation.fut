-- A mark of uniqueness belongs to parameters and results, not to the definition of a type.
type row = *[4]f32
--         ^^^^^^^ warning[W0401]: `*` has no effect in the definition of a type
-- = write it where the type is that of a parameter or a result
