"""The folder that `evaluate.load` reads; see rome.integrations.huggingface.module_path."""
