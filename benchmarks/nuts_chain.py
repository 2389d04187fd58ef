"""One chain of NUTS for a double logistic model whose labelling follows the class; for nuts.py.

Prior: slopes N(0, kappa^2 / p), prevalence and label frequency uniform by the Jacobian of the
intercepts. Prints mean, 5% and 95% quantile of the prevalence as JSON.
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, init_to_value

jax.config.update("jax_enable_x64", True)
data = np.load(sys.argv[1])
X, s, kappa, k = (jnp.asarray(data[name]) for name in ("X", "s", "kappa", "k"))
n, p = X.shape


def model():
    z = numpyro.sample("z", dist.Normal(jnp.zeros(p), 1).to_event(1))
    flat = dist.ImproperUniform(dist.constraints.real, (), ())
    b0, w = numpyro.sample("b0", flat), numpyro.sample("w", flat)
    a = X @ z * kappa / jnp.sqrt(p) + b0
    b = k * a + w
    log_s = jax.nn.log_sigmoid(a) + jax.nn.log_sigmoid(b)
    unlabelled = jnp.log1p(-jnp.exp(jnp.minimum(log_s, -1e-12)))
    numpyro.factor("labels", jnp.where(s > 0, log_s, unlabelled).sum())
    y, e = jax.nn.sigmoid(a), jax.nn.sigmoid(b)
    jacobian = jnp.log((y * (1 - y)).mean() * (y * e * (1 - e)).mean() / y.mean())
    numpyro.factor("prior", jacobian - 0.5 * (b0 / 10) ** 2)
    numpyro.deterministic("prevalence", y.mean())


start = init_to_value(values={"z": jnp.zeros(p), "b0": -1.0, "w": 0.0})
chain = MCMC(NUTS(model, init_strategy=start), num_warmup=500, num_samples=1500, progress_bar=False)
chain.run(jax.random.PRNGKey(0))
found = np.asarray(chain.get_samples()["prevalence"])
print(json.dumps([float(found.mean()), *map(float, np.quantile(found, [0.05, 0.95]))]))
