"""A complete solver."""
