"""Hamilton's extended principle: ordinary and partial differential equations of rigid bodies
with continua.
"""
