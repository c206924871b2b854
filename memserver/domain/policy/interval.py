"""What an estimate says: a number and the range around it, however its parts hang together."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the range that covers the truth at the confidence asked for."""

    estimate: float
    low: float
    high: float


def clustered_mean(
    values: npt.NDArray[np.float64], clusters: npt.NDArray[np.intp], *, confidence: float
) -> Interval:
    """The mean of `values` [n], where those of one cluster (0 .. g - 1) may depend on another.

    Clusters' sums of residuals are taken as independent, with the factor g / (g - 1) and
    Student's t with g - 1 degrees of freedom in place of the normal, since clusters may be few
    (Cameron and Miller 2015, "A Practitioner's Guide to Cluster-Robust Inference", section VI).
    Needs two clusters or more.
    """
    mean = float(values.mean())
    sums = np.bincount(clusters, values - mean)
    groups = sums.size
    error = float(np.sqrt(groups / (groups - 1) * np.sum(sums**2))) / values.size
    reach = student_quantile((1 + confidence) / 2, freedom=groups - 1) * error
    return Interval(mean, mean - reach, mean + reach)


def student_quantile(probability: float, *, freedom: int) -> float:
    """Student's t quantile from the normal one: the first four terms of its expansion in
    1 / freedom (Abramowitz and Stegun 1964, 26.7.5). Within 1% of the truth from 4 degrees of
    freedom on at probabilities up to .975, and too narrow below."""
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, start=1))
