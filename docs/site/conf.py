"""How Sphinx makes the site of the pages that `stage.py` put beside this file."""

project = "destage"
project_copyright = "the authors of destage"
extensions = ["myst_parser"]

html_title = "destage"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#6cb6ff", "color-brand-content": "#6cb6ff"},
}

# Links to a heading of another page, as those who show Markdown elsewhere make them.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
nitpicky = True
# A page that is included elsewhere, or begins at a lower heading, is as its author wants it.
suppress_warnings = ["myst.header"]
highlight_language = "none"
