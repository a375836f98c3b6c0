-- What levels there are.
def brightest : u8 = 255
