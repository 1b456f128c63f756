"""da.identify: physical bodies from motions and loads, written back to the URDF."""

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.studies.pseudo_inertia import LogCholesky, is_consistent, parameters_of

LINK = (
    '<link name="{name}"><inertial><origin xyz="{c}" rpy="0.3 0.1 0"/><mass value="{m}"/>'
    '<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="{xyz}" rpy="{roll} 0 0"/><axis xyz="0 0 1"/></joint>'
)

FLANGE = (
    '<joint name="f" type="fixed"><parent link="fore"/><child link="tool"/>'
    '<origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.785"/></joint></robot>'
)


def load(file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return da.load(file)


@pytest.fixture
def pair(tmp_path):
    """The same arm of two links, as a file says it is and as it really is."""
    robots = []
    for name, k in (("nominal", 1.0), ("true", 1.3)):
        text = "".join(
            [
                '<robot name="two"><link name="base"/>',
                LINK.format(
                    name="upper", c=f"0.02 0 {0.2 * k}", m=2 * k, ixx=0.05, iyy=0.06, izz=0.02
                ),
                LINK.format(
                    name="fore", c="0.01 -0.02 0.1", m=k, ixx=0.01, iyy=0.01 * k, izz=0.008
                ),
                '<link name="tool"/>',
                JOINT.format(name="a", parent="base", child="upper", xyz="0 0 0.1", roll=1.2),
                JOINT.format(name="b", parent="upper", child="fore", xyz="0.3 0 0.1", roll=-0.7),
                FLANGE,
            ]
        )
        file = tmp_path / f"{name}.urdf"
        file.write_text(text)
        robots.append(load(file))
    return robots


def record(robot, seed, noise=0.02, count=400):
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 8.0, count)
    w = np.array([2.1, 3.3])
    q, u, a = np.sin(w * t[:, None]), w * np.cos(w * t[:, None]), -(w**2) * np.sin(w * t[:, None])
    q, u, a = (
        q + 0.5 * np.cos(5 * t)[:, None],
        u - 2.5 * np.sin(5 * t)[:, None],
        a - 12.5 * np.cos(5 * t)[:, None],
    )
    tau = da.inverse_dynamics(robot)(q, u, a) + [0.4, 0.7] * u + 0.2 * np.sign(u)
    measured = tau + noise * rng.normal(size=tau.shape)
    table = {"t": t}
    for k, n in enumerate("ab"):
        table |= {n: q[:, k], f"{n}.dot": u[:, k], f"{n}.dot.dot": a[:, k]}
        table[f"tau_{n}"] = measured[:, k]
    return table, (q, u, a, tau)


def test_parameters_are_found_and_written_back(pair, tmp_path):
    nominal, true = pair
    table, _ = record(true, 1)
    result = da.identify(nominal, table, friction=["viscous", "coulomb"], noise=0.02)
    K, friction = result.regressor.base.matrix, [0.4, 0.7, 0.2, 0.2]
    exact = np.concatenate([K @ da.regressor(true).pi, friction])
    sigma = np.sqrt(np.diag(result.covariance))
    for values in (result.theta, result.consistent_theta):
        assert np.abs((values - exact) / sigma).max() < 4.5
    assert 0.9 < result.chi_square < 1.1
    assert 0.9 < result.consistent_chi_square < 1.1
    assert all(is_consistent(x) for x in result.pi.reshape(-1, 10))
    # what the new file says is what was identified, seen from the axes of its links
    written = load(result.write_urdf(tmp_path / "new.urdf"))
    assert np.allclose(da.regressor(written).pi, result.pi, rtol=1e-12, atol=1e-13)
    _, (q, u, a, tau) = record(true, 2)
    predicted = da.inverse_dynamics(written)(q, u, a) + [0.4, 0.7] * u + 0.2 * np.sign(u)
    assert np.sqrt(np.mean((predicted - tau) ** 2)) < 0.02
    assert "physical" in str(result)
    result.plot(path=tmp_path / "loads.png")
    assert (tmp_path / "loads.png").stat().st_size > 10_000


def test_positions_alone_are_filtered_and_differentiated(pair):
    nominal, true = pair
    table, _ = record(true, 3, count=2000)
    positions = {n: x for n, x in table.items() if "dot" not in n}
    result = da.identify(nominal, positions, friction=["viscous", "coulomb"], cutoff=15)
    whole = da.identify(nominal, table, friction=["viscous", "coulomb"])
    difference = (result.theta - whole.theta) / np.sqrt(np.diag(whole.covariance))
    assert np.abs(difference).max() < 2.0


def test_every_log_cholesky_point_is_a_body():
    rng = np.random.default_rng(4)
    for _ in range(30):
        A = rng.normal(size=(4, 4))
        pi = parameters_of(A @ A.T)
        body = LogCholesky.around(pi)
        assert np.allclose(body(np.zeros(10))[0], pi, rtol=1e-10, atol=1e-10)
        theta, h = rng.normal(size=10), 1e-6
        value, slopes = body(theta)
        assert is_consistent(value)
        for k in range(10):
            e = h * np.eye(10)[k]
            by_difference = (body(theta + e)[0] - body(theta - e)[0]) / (2 * h)
            assert np.allclose(slopes[:, k], by_difference, atol=1e-6 * np.abs(slopes).max())


def test_wrong_data_are_answered(pair):
    nominal, true = pair
    table, _ = record(true, 1, count=50)
    without = {n: x for n, x in table.items() if n != "tau_b"}
    cases = [
        (without, {}, "no column 'tau_b'"),
        ({**table, "c": table["a"]}, {}, "column 'c' is no coordinate"),
        ({n: x for n, x in table.items() if "dot" not in n}, {}, "give cutoff="),
        (table, {"friction": ["dry"]}, "'dry' is none of viscous, coulomb, offset"),
        (table, {"noise": {"tau_a": 1.0}}, "noise: 'tau_b'"),
        (table, {"noise": -1.0}, "must be positive"),
        (table, {"deviation": 0.0}, "must be positive"),
        (table, {"bodies": ["hand"]}, "no body 'hand'"),
        ({n: x[:5] for n, x in table.items()}, {}, "10 measured loads for"),
    ]
    for data, options, text in cases:
        with pytest.raises(da.DalembertError, match=text):
            da.identify(nominal, data, **options)


def test_links_by_name_agree_with_mujoco(pair):
    robot = pair[0]
    tool = robot.link("tool")
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec.from_file(str(robot.origin.path))
    spec.compiler.fusestatic = False
    for body in spec.bodies:
        if body.name in ("base", "tool"):
            body.mass, body.inertia = 1.0, [1.0, 1.0, 1.0]
            body.explicitinertial = True
    model = spec.compile()
    data = mujoco.MjData(model)
    k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "tool")
    for q in np.random.default_rng(5).uniform(-3, 3, (10, 2)):
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        J = np.zeros((6, 2))
        mujoco.mj_jacBody(model, data, J[:3], J[3:], k)
        pose = tool.pose(q)
        assert np.abs(pose[:3, 3] - data.xpos[k]).max() < 1e-12
        assert np.abs(pose[:3, :3] - data.xmat[k].reshape(3, 3)).max() < 1e-12
        assert np.abs(tool.jacobian(q) - J).max() < 1e-12
    with pytest.raises(da.DalembertError, match="did you mean 'tool'"):
        robot.link("tol")
    with pytest.raises(da.DalembertError, match="give 2 positions"):
        tool.pose([1.0])
