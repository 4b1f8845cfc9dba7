"""The version of the package. The wheel has one of its own here."""

__version__ = "0"
__program__ = "dev"  # what the program calls the same version
