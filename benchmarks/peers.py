"""Other packages for positive-unlabelled data, in an environment of their own: JSON out.

    python peers.py data.npz package

Run by benchmarks/scale.py and speed.py; data.npz holds X, s, X_new and y_new.
"""

import importlib.metadata
import json
import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression


def pulearn(X, s):
    from pulearn import ElkanotoPuClassifier

    model = ElkanotoPuClassifier(LogisticRegression(max_iter=1000), hold_out_ratio=0.2)
    model.fit(X, np.where(s == 1, 1, -1))
    return lambda Z: model.predict(Z) == 1


def pysarpu(X, s):
    from pysarpu import PUClassifier
    from pysarpu.classification import LinearLogisticRegression
    from pysarpu.propensity import LogisticPropensity

    model = PUClassifier(LinearLogisticRegression(), LogisticPropensity())
    model.fit(X, X[:, ::2], s, max_iter=50)
    return lambda Z: model.predict_c(Z) == 1


def pu_toolbox(X, s):
    from pu_toolbox import LBEClassifier

    model = LBEClassifier().fit(X, s)
    return lambda Z: model.predict(Z) == 1


PEERS = {"pulearn": pulearn, "pysarpu": pysarpu, "pu-toolbox": pu_toolbox}


def main() -> None:
    data, name = np.load(sys.argv[1]), sys.argv[2]
    start, used = time.perf_counter(), time.process_time()
    predict = PEERS[name](data["X"].astype(np.float64), data["s"].astype(int))
    seconds, cpu = time.perf_counter() - start, time.process_time() - used
    right = predict(data["X_new"].astype(np.float64)) == (data["y_new"] == 1)
    version = importlib.metadata.version(name)
    accuracy = float(right.mean())
    found = {"seconds": seconds, "cpu": cpu, "accuracy": accuracy, "version": version}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
