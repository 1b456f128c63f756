"""Robots from URDF and MJCF files, in the public language of descriptions; nothing below knows of
them.

safety      what an XML file may not do, decided before MuJoCo opens it
record      a robot as plain numbers: bodies, joints, equalities, tendons, actuators, keyframes
urdf, mjcf  MuJoCo reads the file, and its model becomes the record
omitted     what a file says and the equations do not
legal_names names that expressions can take, for names that they cannot
poses       exact rotations for measured ones
looks       primitives of the file, or bars from joint to joint, to be drawn
build       the record becomes a System
engines     MuJoCo and Pinocchio at a state
crosscheck  the same state in the System and in the engines
"""
