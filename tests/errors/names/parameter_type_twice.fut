-- One name cannot be bound to two type parameters.
def pair 't 't (x: t) (y: t) : (t, t) = (x, y)
--          ^^ error[E0202]: the parameter `t` is bound twice
