"""Fractile's browser front end, file readers, figures and the ``fractile`` command."""
