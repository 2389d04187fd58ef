"""scikit-learn's contract: in full for some classifiers, for the others what is theirs alone."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

# Parameters, fit and prediction of a class; validation, tags and labels are those of their base.
THEIR_OWN = {
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_dict_unchanged",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_estimator_cloneable",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_no_attributes_set_in_init",
    "check_non_transformer_estimators_n_iter",
    "check_parameters_default_constructible",
    "check_sample_weight_equivalence_on_dense_data",
}


def contract(in_full, others):
    """Parametrisation by estimators and checks; what `make test` leaves out is marked slow."""
    cases = []
    for estimator in (*in_full, *others):
        for number, (made, check) in enumerate(estimator_checks_generator(estimator, mark="xfail")):
            name = check.func.__name__
            quick = estimator in in_full or name in THEIR_OWN
            marks = () if quick else pytest.mark.slow
            cases.append(pytest.param(made, check, marks=marks, id=f"{estimator}-{number}-{name}"))
    return pytest.mark.parametrize(("estimator", "check"), cases)
