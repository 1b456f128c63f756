"""An unscented Kalman filter in C: the model's rates and outputs, and the steps of
`analysis/control/unscented.py` on them.

    NAME_filter f;
    NAME_filter_start(&f);
    NAME_filter_update(&f, y);   at every sample
    NAME_filter_predict(&f, w);  until the next one, with the inputs w

No function allocates. The roots of covariances are symmetric (by Jacobi's rotations), so that
points and results are those of Python up to rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.exchange.exports.c import files as model_files
from dalembert.exchange.exports.export_model import ExportRequest, exported_model

if TYPE_CHECKING:
    from dalembert.analysis.control.kalman import KalmanFilter


def filter_obstacle(estimator: KalmanFilter) -> str:
    """Why a filter cannot be written in C; empty where it can."""
    if estimator.kind != "unscented Kalman filter":
        return "an extended filter needs slopes in C; make it with method='unscented'"
    n = len(estimator.states)
    if estimator.N.shape != (n, n) or not np.array_equal(estimator.N, np.eye(n)):
        return "its states are tied by constraints or a quaternion; filters in C have free states"
    open_inputs = tuple(s.name for s in estimator.model.kin.system.symbols.values() if s.is_open)
    if open_inputs != tuple(estimator.inputs):
        listed = ", ".join(open_inputs)
        return f"all inputs in their order must be its drives; make it with drives=[{listed}]"
    return ""


def files(estimator: KalmanFilter, name: str, real: str = "double") -> dict[str, str]:
    """{name.h, name.c, name_filter.h, name_filter.c}"""
    system, constants = estimator.model.kin.system, estimator.model.constants
    request = ExportRequest(
        values=constants, inputs={}, start={}, outputs=estimator.outputs, linear=False
    )
    model = exported_model(system, request)
    text = {
        "header": _HEADER,
        "source": _SOURCE.replace("@numbers@", _numbers(estimator, real)),
    }
    suffix = "f" if real == "float" else ""
    for key, value in {
        "NAME": name,
        "TITLE": system.name,
        "STATES": ", ".join(estimator.states),
        "OUTPUTS": ", ".join(estimator.outputs),
        "INPUTS": ", ".join(estimator.inputs) or "none",
        "SQRT": f"sqrt{suffix}",
        "FABS": f"fabs{suffix}",
        "EPSILON": "1e-7f" if suffix else "1e-16",
        "WIDTH": str(max(1, len(estimator.inputs))),
    }.items():
        text = {k: x.replace(f"@{key}@", value) for k, x in text.items()}
    return {
        **model_files(model, name, real),
        f"{name}_filter.h": text["header"],
        f"{name}_filter.c": text["source"],
    }


def _numbers(estimator: KalmanFilter, real: str) -> str:
    """Noise, process and start as constants of the file."""
    end = "f" if real == "float" else ""

    def row(values: np.ndarray) -> str:
        return "{" + ", ".join(f"{float(x)!r}{end}" for x in values) + "}"

    def table(values: np.ndarray) -> str:
        return "{" + ", ".join(row(each) for each in values) + "}"

    n, m = len(estimator.states), len(estimator.outputs)
    return "\n".join(
        [
            f"#define n {n}",
            f"#define m {m}",
            f"static const real every = {float(estimator.every)!r}{end};",
            f"static const real first_t = {float(estimator.t)!r}{end};",
            f"static const real first_x[n] = {row(estimator.x)};",
            f"static const real first_P[n][n] = {table(estimator.P)};",
            f"static const real process[n][n] = {table(estimator.process)};",
            f"static const real noise[m][m] = {table(estimator.noise)};",
        ]
    )


_HEADER = """\
/*
 * @TITLE@: unscented Kalman filter, written by dalembert
 *
 * States x: @STATES@
 * Measurements y: @OUTPUTS@
 * Inputs w: @INPUTS@
 */
#ifndef @NAME@_FILTER_H
#define @NAME@_FILTER_H
#include "@NAME@.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    @NAME@_real t;
    @NAME@_real x[@NAME@_n_x];             /* the estimate */
    @NAME@_real P[@NAME@_n_x][@NAME@_n_x]; /* its covariance */
    @NAME@_real w[@WIDTH@];
    @NAME@_parameters p;
} @NAME@_filter;

/* the first estimate, with the constants of the description */
void @NAME@_filter_start(@NAME@_filter *f);
/* use a measurement; 0, or 1 where its covariance is not positive definite: nothing changes then */
int @NAME@_filter_update(@NAME@_filter *f, const @NAME@_real *y);
/* follow the equations of motion until the next sample */
void @NAME@_filter_predict(@NAME@_filter *f, const @NAME@_real *w);

#ifdef __cplusplus
}
#endif
#endif
"""

_SOURCE = """\
#include "@NAME@_filter.h"

#include <math.h>
#include <string.h>

typedef @NAME@_real real;

@numbers@

/* V diag(sqrt(max(lambda, 0))) V' of a symmetric matrix, by cyclic rotations */
static void symmetric_root(const real given[n][n], real root[n][n])
{
    real A[n][n], V[n][n];
    memcpy(A, given, sizeof A);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            V[i][j] = i == j;
    for (int sweep = 0; sweep < 60; sweep++) {
        int turned = 0;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                if (@FABS@(A[i][j]) <= @EPSILON@ * @SQRT@(@FABS@(A[i][i] * A[j][j])))
                    continue;
                turned = 1;
                const real theta = (A[j][j] - A[i][i]) / (2 * A[i][j]);
                const real t = (theta < 0 ? -1 : 1) / (@FABS@(theta) + @SQRT@(theta * theta + 1));
                const real c = 1 / @SQRT@(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    const real a = A[k][i], b = A[k][j];
                    A[k][i] = c * a - s * b;
                    A[k][j] = s * a + c * b;
                }
                for (int k = 0; k < n; k++) {
                    const real a = A[i][k], b = A[j][k];
                    A[i][k] = c * a - s * b;
                    A[j][k] = s * a + c * b;
                }
                for (int k = 0; k < n; k++) {
                    const real a = V[k][i], b = V[k][j];
                    V[k][i] = c * a - s * b;
                    V[k][j] = s * a + c * b;
                }
            }
        if (!turned)
            break;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            root[i][j] = 0;
            for (int k = 0; k < n; k++)
                root[i][j] += V[i][k] * (A[k][k] > 0 ? @SQRT@(A[k][k]) : 0) * V[j][k];
        }
}

static real spread(void)
{
    return n < 3 ? 3 : n;
}

static real weight(int k)
{
    return k ? 1 / (2 * spread()) : (spread() - n) / spread();
}

/* departures of the 2 n + 1 points from the estimate */
static void sigma_points(const real P[n][n], real xi[2 * n + 1][n])
{
    real root[n][n];
    symmetric_root(P, root);
    const real size = @SQRT@(spread());
    for (int j = 0; j < n; j++) {
        xi[0][j] = 0;
        for (int i = 0; i < n; i++) {
            xi[1 + i][j] = size * root[i][j];
            xi[1 + n + i][j] = -size * root[i][j];
        }
    }
}

void @NAME@_filter_start(@NAME@_filter *f)
{
    f->t = first_t;
    memcpy(f->x, first_x, sizeof f->x);
    memcpy(f->P, first_P, sizeof f->P);
    memset(f->w, 0, sizeof f->w);
    @NAME@_defaults(&f->p);
}

/* lower triangle L with L L' = S; 1 where there is none */
static int factor(real S[m][m])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++) {
            real left = S[i][j];
            for (int k = 0; k < j; k++)
                left -= S[i][k] * S[j][k];
            if (i == j && !(left > 0))
                return 1;
            S[i][j] = i == j ? @SQRT@(left) : left / S[j][j];
        }
    return 0;
}

/* z := S^-1 z with the factor of S */
static void solve(const real L[m][m], real *z)
{
    for (int i = 0; i < m; i++) {
        for (int k = 0; k < i; k++)
            z[i] -= L[i][k] * z[k];
        z[i] /= L[i][i];
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++)
            z[i] -= L[k][i] * z[k];
        z[i] /= L[i][i];
    }
}

int @NAME@_filter_update(@NAME@_filter *f, const @NAME@_real *y)
{
    real xi[2 * n + 1][n], values[2 * n + 1][m], mean[m] = {0}, S[m][m], C[n][m], K[n][m], x[n];
    sigma_points((const real(*)[n])f->P, xi);
    for (int i = 0; i <= 2 * n; i++) {
        for (int j = 0; j < n; j++)
            x[j] = f->x[j] + xi[i][j];
        @NAME@_outputs(f->t, x, f->w, &f->p, values[i]);
        for (int k = 0; k < m; k++)
            mean[k] += weight(i) * values[i][k];
    }
    for (int k = 0; k < m; k++)
        for (int l = 0; l < m; l++) {
            S[k][l] = noise[k][l];
            for (int i = 0; i <= 2 * n; i++)
                S[k][l] += weight(i) * (values[i][k] - mean[k]) * (values[i][l] - mean[l]);
        }
    for (int j = 0; j < n; j++)
        for (int k = 0; k < m; k++) {
            C[j][k] = 0;
            for (int i = 0; i <= 2 * n; i++)
                C[j][k] += weight(i) * xi[i][j] * (values[i][k] - mean[k]);
        }
    if (factor(S))
        return 1;
    memcpy(K, C, sizeof K);
    for (int j = 0; j < n; j++)
        solve((const real(*)[m])S, K[j]);
    /* K S K' = K C' */
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            real less = 0;
            for (int k = 0; k < m; k++)
                less += (K[i][k] * C[j][k] + K[j][k] * C[i][k]) / 2;
            f->P[i][j] = f->P[j][i] = (f->P[i][j] + f->P[j][i]) / 2 - less;
        }
    for (int j = 0; j < n; j++)
        for (int k = 0; k < m; k++)
            f->x[j] += K[j][k] * (y[k] - mean[k]);
    return 0;
}

/* one step of Runge and Kutta's method */
static void move(const @NAME@_filter *f, real *x)
{
    real k1[n], k2[n], k3[n], k4[n], at[n];
    const real h = every, t = f->t;
    @NAME@_rates(t, x, f->w, &f->p, k1);
    for (int j = 0; j < n; j++)
        at[j] = x[j] + h / 2 * k1[j];
    @NAME@_rates(t + h / 2, at, f->w, &f->p, k2);
    for (int j = 0; j < n; j++)
        at[j] = x[j] + h / 2 * k2[j];
    @NAME@_rates(t + h / 2, at, f->w, &f->p, k3);
    for (int j = 0; j < n; j++)
        at[j] = x[j] + h * k3[j];
    @NAME@_rates(t + h, at, f->w, &f->p, k4);
    for (int j = 0; j < n; j++)
        x[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
}

void @NAME@_filter_predict(@NAME@_filter *f, const @NAME@_real *w)
{
    real xi[2 * n + 1][n], x[2 * n + 1][n];
    for (int k = 0; k < @NAME@_n_w; k++)
        f->w[k] = w[k];
    sigma_points((const real(*)[n])f->P, xi);
    for (int i = 0; i <= 2 * n; i++) {
        for (int j = 0; j < n; j++)
            x[i][j] = f->x[j] + xi[i][j];
        move(f, x[i]);
    }
    f->t += every;
    for (int j = 0; j < n; j++) {
        real mean = 0;
        for (int i = 0; i <= 2 * n; i++)
            mean += weight(i) * (x[i][j] - x[0][j]);
        f->x[j] = x[0][j] + mean;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            real sum = every * process[i][j];
            for (int k = 0; k <= 2 * n; k++)
                sum += weight(k) * (x[k][i] - f->x[i]) * (x[k][j] - f->x[j]);
            f->P[i][j] = f->P[j][i] = sum;
        }
}
"""
