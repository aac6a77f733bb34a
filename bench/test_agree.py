#!/usr/bin/python3
"""Test which answers of two peers are regarded as equal."""
import unittest
from decimal import Decimal

from run import agree


class Agree(unittest.TestCase):
    def test_exact_numbers_have_to_be_equal(self):
        self.assertFalse(agree([(30_000_000_000_000,)], [(30_000_000_000_025,)]))
        self.assertFalse(agree([(Decimal("1.000000000000001"),)], [(Decimal("1"),)]))
        self.assertTrue(agree([(Decimal("30000000000000.00"), 7)], [["30000000000000", 7]]))

    def test_floats_differ_in_the_last_digits(self):
        self.assertTrue(agree([(0.1 + 0.2,)], [(0.3,)]))
        self.assertTrue(agree([(Decimal("3333.33333333333333"), Decimal(5))], [(3333.3333333333335, 5.0)]))
        self.assertFalse(agree([(0.3,)], [(0.3000001,)]))

    def test_rows_come_in_any_order(self):
        self.assertTrue(agree([("a", 1), ("b", None)], [("b", None), ("a", 1)]))
        self.assertTrue(agree([(10,), (9,)], [["9"], ["10"]]))
        self.assertTrue(agree([(None, 1), (2, 1)], [(2, 1), (None, 1)]))
        self.assertFalse(agree([("a", 1), ("b", 2)], [("a", 2), ("b", 1)]))
        self.assertFalse(agree([("a", 1)], [("a", 1), ("a", 1)]))
        self.assertFalse(agree([(1,)], [("x",)]))


if __name__ == "__main__":
    unittest.main()
