"""Figures: Vega-Lite specifications drawn to SVG and PNG without a browser; a module for each kind."""
