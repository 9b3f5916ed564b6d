"""What people read: the paper's tables beside ours, figures and the audit."""
