"""The sections of the page, in its order; each is a file here and a line of SECTIONS."""

from doublelogit.report.section import Section
from doublelogit.report.sections import (
    audit,
    data,
    drivers,
    labelling,
    made,
    prevalence,
    ranked,
    sources,
    trust,
    verdict,
)

SECTIONS: tuple[Section, ...] = (
    verdict.SECTION,
    prevalence.SECTION,
    sources.SECTION,
    audit.SECTION,
    ranked.SECTION,
    drivers.SECTION,
    labelling.SECTION,
    trust.SECTION,
    data.SECTION,
    made.SECTION,
)
