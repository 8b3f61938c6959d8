//! Numbers of about 106 bits: the unevaluated sum of two doubles (Dekker, "A floating-point technique for extending the
//! available precision", 1971).

/// `high + low`, where `low` is at most half an ULP of `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Double {
    /// The sum, rounded.
    pub high: f64,
    /// The rounding error.
    pub low: f64,
}

/// The sum and its rounding error, exactly (Knuth).
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The product and its rounding error, exactly unless the error underflows.
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

impl Double {
    /// A double of both parts.
    pub const fn new(high: f64, low: f64) -> Self {
        Double { high, low }
    }

    /// The exact sum.
    pub fn sum(a: f64, b: f64) -> Self {
        let (high, low) = two_sum(a, b);
        Double { high, low }
    }

    /// The exact product.
    pub fn product(a: f64, b: f64) -> Self {
        let (high, low) = two_product(a, b);
        Double { high, low }
    }

    /// A double made of two parts, the first of which is the larger.
    fn renormal(high: f64, low: f64) -> Self {
        let sum = high + low;
        Double { high: sum, low: low - (sum - high) }
    }

    /// The rounded value.
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// The sum.
    pub fn plus(self, other: Double) -> Self {
        let (high, error) = two_sum(self.high, other.high);
        let (low, error_low) = two_sum(self.low, other.low);
        let first = Double::renormal(high, error + low);
        Double::renormal(first.high, first.low + error_low)
    }

    /// The product.
    pub fn times(self, other: Double) -> Self {
        let (high, error) = two_product(self.high, other.high);
        Double::renormal(high, error + (self.high * other.low + self.low * other.high))
    }

    /// The product with a number.
    pub fn scaled(self, by: f64) -> Self {
        let (high, error) = two_product(self.high, by);
        Double::renormal(high, self.low.mul_add(by, error))
    }

    /// The quotient.
    pub fn over(self, by: Double) -> Self {
        let first = self.high / by.high;
        let rest = self.plus(by.scaled(-first));
        let second = rest.high / by.high;
        let rest = rest.plus(by.scaled(-second));
        let third = rest.high / by.high;
        let quotient = Double::renormal(first, second);
        quotient.plus(Double::new(third, 0.0))
    }

    /// The square root of a positive number.
    pub fn root(self) -> Self {
        let root = self.high.sqrt();
        let rest = self.plus(Double::product(root, -root));
        Double::renormal(root, rest.high / (2.0 * root))
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Double { high, low: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_products_and_quotients_keep_what_a_double_loses() {
        let third = Double::from(1.0).over(Double::from(3.0));
        let one = third.scaled(3.0);
        assert!((one.high - 1.0).abs() < 1e-300 && one.low.abs() < 1e-31, "{one:?}");
        // 3 (2^53 + 1), a number of 55 bits.
        let big = 53f64.exp2();
        assert_eq!(Double::sum(big, 1.0).scaled(3.0), Double::sum(3.0 * big, 3.0));
        // The root of two, squared.
        let root = Double::from(2.0).root();
        let two = root.times(root);
        assert!(two.high == 2.0 && two.low.abs() < 1e-30, "{two:?}");
    }
}
