"""Small robots as files."""

from __future__ import annotations

import pytest

ARM = """<robot name="two link arm">
  <link name="base"><inertial><mass value="3"/>
    <inertia ixx="0.3" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="upper-arm"><inertial><origin xyz="0.1 0.02 0.5" rpy="0.1 0.2 0.3"/><mass value="2"/>
    <inertia ixx="0.2" iyy="0.25" izz="0.1" ixy="0.01" ixz="0.02" iyz="-0.01"/></inertial></link>
  <link name="fore arm"><inertial><origin xyz="0 0.1 0.3"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.6"/></geometry></collision></link>
  <link name="tool"><inertial><mass value="0.3"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper-arm"/>
    <origin xyz="0 0 0.4" rpy="-1.57079632679 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="10" velocity="1"/>
      <dynamics damping="0.7" friction="0.2"/></joint>
  <joint name="elbow.joint" type="continuous"><parent link="upper-arm"/><child link="fore arm"/>
    <origin xyz="0.1 0 1" rpy="0.3 0.4 0.5"/>
    <axis xyz="1 2 2"/></joint>
  <joint name="flange" type="fixed"><parent link="fore arm"/><child link="tool"/>
    <origin xyz="0 0 0.6" rpy="0.2 0 0"/></joint>
  <joint name="slider" type="prismatic"><parent link="tool"/><child link="finger"/>
    <origin xyz="0 0.1 0.1" rpy="0 0 1"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
</robot>"""

# one of everything that is mapped, and several things that are not
WALKER = """<mujoco model="kinds">
  <compiler angle="radian"/>
  <option gravity="0 0.5 -9.81"/>
  <default><joint damping="0.1"/><geom density="500"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="trunk" pos="0 0 1" euler="0.1 0.2 0.3">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <site name="back" pos="-0.2 0 0.1"/>
      <body name="thigh" pos="0.2 0 -0.1" euler="0.2 0 0.1">
        <joint name="hip" axis="0 1 0" pos="0.01 0 0.05" ref="0.2" springref="0.1"
          stiffness="3" armature="0.02"
          limited="true" range="-1 1"/>
        <joint name="hip2" axis="1 0 1" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04"/>
        <site name="knee cap" pos="0.05 0 -0.35"/>
        <body name="shin" pos="0 0 -0.4">
          <joint name="knee" axis="0 1 0" stiffness="2" frictionloss="0.1"/>
          <geom type="cylinder" size="0.03 0.2" pos="0 0 -0.2"/>
          <body name="foot" pos="0 0 -0.4">
            <joint name="ankle" type="slide" axis="0 0 1" stiffness="50"/><geom size="0.05"/></body>
        </body>
      </body>
      <body name="arm" pos="0 0.2 0"><joint name="shoulder" type="ball"/>
        <geom type="ellipsoid" size="0.03 0.02 0.2" pos="0 0 -0.2"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="coupling" stiffness="5" springlength="0.1"><joint joint="hip" coef="0.5"/>
      <joint joint="knee" coef="-1"/></fixed>
    <spatial name="cord" stiffness="20" springlength="0.3" damping="0.4"><site site="back"/>
      <site site="knee cap"/></spatial>
  </tendon>
  <actuator>
    <motor name="hip motor" joint="hip" gear="30" ctrlrange="-1 1" ctrllimited="true"/>
    <position name="knee servo" joint="knee" kp="40" kv="2"/>
    <velocity name="ankle servo" joint="ankle" kv="3"/>
    <motor name="cord motor" tendon="cord" gear="2"/>
    <motor name="tendon motor" tendon="coupling"/>
    <motor name="shoulder motor" joint="shoulder" gear="1 2 3"/>
    <muscle name="muscle" joint="knee" lengthrange="-1 1"/>
  </actuator>
  <keyframe>
    <key name="crouch" qpos="0 0 1 1 0 0 0 0.3 0 -0.6 0 1 0 0 0"
      qvel="0.1 0 0 0 0.2 0 0 0 0 0 0 0 0"/></keyframe>
</mujoco>"""

LOOP = """<mujoco model="loop">
  <option gravity="0 -9.81 0"/>
  <worldbody>
    <body name="crank"><joint name="a" axis="0 0 1"/>
      <geom type="capsule" fromto="0 0 0 0 1 0" size="0.05"/>
      <body name="coupler" pos="0 1 0"><joint name="b" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 2 0.5 0" size="0.05"/>
        <body name="rocker" pos="2 0.5 0"><joint name="c" axis="0 0 1"/>
          <geom type="capsule" fromto="0 0 0 0 -1.5 0" size="0.05"/>
        </body></body></body>
    <body name="wheel" pos="5 0 0"><joint name="w" axis="0 0 1"/>
      <geom type="cylinder" size="0.3 0.05"/></body>
  </worldbody>
  <equality>
    <connect name="pivot" body1="rocker" body2="world" anchor="0 -1.5 0"/>
    <joint name="belt" joint1="w" joint2="a" polycoef="0.1 2 0.3 0 0"/>
  </equality>
</mujoco>"""


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    return file


@pytest.fixture
def walker(tmp_path):
    file = tmp_path / "walker.xml"
    file.write_text(WALKER)
    return file


@pytest.fixture
def loop(tmp_path):
    file = tmp_path / "loop.xml"
    file.write_text(LOOP)
    return file
