"""The thresholds at which a number becomes a finding: one home, each with its reason."""

# Prevalence
WIDE_INTERVAL = 0.2  # an interval of the prevalence that is no answer
SAME_ANSWER = 0.02  # difference of two prevalences that nobody acts on
VERY_WIDE = 0.4  # a 95% interval of the prevalence that says next to nothing
UNDETERMINED = 0.5  # a 90% credible interval of the prevalence that says next to nothing
# Below this standard error of the logit of the hidden share the ridge is straight as far as a Wald
# interval goes, so that it agrees with the profile.
SHARP_LOGIT_ERROR = 0.1
BENT_RIDGE = 1.5  # profile interval over Wald interval that shows a ridge which bends
TORN = 0.6  # width of the intervals under each mechanism, as a share of that under all
WEAK_SIGNAL = 1.0  # standard deviation of the class's predictor below which classes hardly separate

# Class and labelling
CLEAR_LOG_LIKELIHOOD = 2.0  # a swapped optimum this much worse is no rival
CLEAR_LOG_EVIDENCE = 2.0
# In one of a thousand samples the weaker model looks stronger by this many standard errors.
CLEAR_STANDARD_ERRORS = 3.0

# Labelling
RARE_PROPENSITY = 0.05  # below it the data say next to nothing of a positive
MANY_RARE = 0.1  # share of the expected positives with a rare propensity that needs attention
SCAR_LEVEL = 0.05  # of tests of labelling at random
BENT_LEVEL = 0.03  # of the test with a class that bends, which approximates the class
CALIBRATION_GAP = 0.02  # mean distance of s(x) from the labelled share that needs attention

# Model. Chances of a false alarm by kind of question; together below one in ten. Shape has the
# least: there are many such questions, and reports ask it again by a label model.
MISFIT_LEVELS = {"response": 0.03, "shape": 0.015, "exclusion": 0.03}

ASTRAY = 0.01  # p-value of labels that stray from their probability along a column

# Likelihood
AT_BOUND = 1e-3  # relative distance from a bound of the prevalence at which it is reached
FITS_OPTIMUM = 5.0  # log-likelihood units within which another optimum competes
FITS_UNITS = 2.0  # log-likelihood units within which a value is said to fit
SAME_OPTIMUM = 0.01  # log-likelihood units
FLAT = 1e-4  # eigenvalue of the information, relative to the largest

# Tables
LARGE_SAMPLE = 20_000  # rows above which nothing is drawn again and again
FEW_LABELS = 10  # labelled rows per coefficient below which estimates rest on the penalty
FEW_OVERLAPS = 20  # rows labelled by two sources below which these show no dependence
FEWEST_LABELS = 10  # labelled rows without which nothing is fitted
MANY_MISSING = 0.3  # share of missing values worth a word

# Numbers of a column, chosen on the learn half of the corpus (make -C benchmarks shapes)
SKEWED = 3.0  # how many times as far one half of a column may reach as the other
FENCE = 4.0  # how many times as far as nine tenths of its half a value may lie
GROSS = 20.0  # the same for values so far below that they are corrupt

CORRUPT = 10.0  # times as far from the median as its cap: a cell that is likelier wrong than rare

# Leaks: nearly all rows that a column picks are labelled, and they are so many of the labelled
LEAK_PRECISION = 0.98
LEAK_RECALL = 0.9
LEAK_RECALL_PRESENT = 0.1  # of rows that have a value at all

# Methods beside each other; chosen on tables of the corpus that learn
BEYOND = 0.05  # distance from an interval at which another prevalence is a dissent
VAGUE_CLAIM = 0.5  # width of an interval of precision that says next to nothing
DISAGREEMENT = 0.1  # difference of prevalences that are no longer one answer
# Standard errors by which held-out labels must be likelier by another method or label model.
CLEARLY_BETTER = 2.0

# Audits
FEW_AUDITED = 8  # positives or negatives found below which an interval is made exactly
ALL_POSITIVE = 10  # audited rows, all positive, that nobody draws at random
MISUSE_LEVEL = 0.01  # of the test that audited rows are like those that they stand for
AGREEMENT_LEVEL = 0.05  # of the test that the model expected what the audit found
