"""The text on the screen: laid out, tinted, scrolled."""
