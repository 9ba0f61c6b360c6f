"""Every label, sentence and definition that is shown, in one place."""
