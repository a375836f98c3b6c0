-- Imports the file above it and gives its names on.
open import "../colour"

def black : grey = shade 0
