//! Rotary embedding in f32 and f64 against the golden vectors: `cargo test` in this folder.

pub mod golden;
pub mod json;

use json::Json;

/// f32 or f64.
pub trait Real:
    Copy
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    const NAME: &'static str;
    const UNIT: f64; // of rounding
    const SMALLEST_SUBNORMAL: f64;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn power(self, exponent: Self) -> Self;
    fn cosine(self) -> Self;
    fn sine(self) -> Self;
}

macro_rules! real {
    ($type:ident) => {
        impl Real for $type {
            const NAME: &'static str = stringify!($type);
            const UNIT: f64 = $type::EPSILON as f64 / 2.0;
            const SMALLEST_SUBNORMAL: f64 = $type::MIN_POSITIVE as f64 * $type::EPSILON as f64;
            fn of(value: f64) -> Self {
                value as $type
            }
            fn wide(self) -> f64 {
                self as f64
            }
            fn power(self, exponent: Self) -> Self {
                self.powf(exponent)
            }
            fn cosine(self) -> Self {
                self.cos()
            }
            fn sine(self) -> Self {
                self.sin()
            }
        }
    };
}
real!(f32);
real!(f64);

/// The parameters of `rope`.
pub struct Scheme {
    pub head_dim: usize,
    pub rotary_dim: usize,
    pub rotary_offset: usize,
    pub interleaved: bool,
    pub base: f64,
    pub sign: f64,
}

impl Scheme {
    pub fn new(scheme: &Json) -> Scheme {
        let broken = std::env::var_os("POSGAUGE_BREAK").is_some(); // a mistake to be found
        Scheme {
            head_dim: scheme["head_dim"].number() as usize,
            rotary_dim: scheme["rotary_dim"].number() as usize,
            rotary_offset: scheme["rotary_offset"].number() as usize,
            interleaved: scheme["pairing"].text() == "interleaved",
            base: scheme["base"].number(),
            sign: if (scheme["direction"].text() == "clockwise") != broken {
                -1.0
            } else {
                1.0
            },
        }
    }

    pub fn pairs(&self) -> usize {
        self.rotary_dim / 2
    }

    /// The two channels of pair i, counted within the head.
    pub fn pair(&self, i: usize) -> (usize, usize) {
        let (a, b) = if self.interleaved {
            (2 * i, 2 * i + 1)
        } else {
            (i, i + self.pairs())
        };
        (self.rotary_offset + a, self.rotary_offset + b)
    }

    // What is tested: put your own here.

    /// base^(-2i/d), negative where the rotation is clockwise.
    pub fn frequency<R: Real>(&self, i: usize) -> R {
        R::of(self.sign)
            * R::of(self.base).power(-(R::of(2.0 * i as f64) / R::of(self.rotary_dim as f64)))
    }

    pub fn cos_sin<R: Real>(&self, position: f64, i: usize) -> (R, R) {
        let angle = R::of(position) * self.frequency(i);
        (angle.cosine(), angle.sine())
    }

    /// One row; direction -1 turns it back.
    pub fn rotate<R: Real>(&self, position: f64, direction: f64, x: &[f64]) -> Vec<R> {
        let x: Vec<R> = x.iter().map(|&value| R::of(value)).collect();
        let mut out = x.clone();
        for i in 0..self.pairs() {
            let (a, b) = self.pair(i);
            let (cos, sin) = self.cos_sin::<R>(position, i);
            let sin = R::of(direction) * sin;
            out[a] = x[a] * cos - x[b] * sin;
            out[b] = x[a] * sin + x[b] * cos;
        }
        out
    }

    // How far that may be from the real number. Every operation rounds by u = R::UNIT of its result; powf,
    // sin and cos are the C library's, within 1 ulp, hence 2u (the standard library itself promises
    // nothing). PAYS pays for products of errors.

    /// Relative: the quotient 2i/d is off by u, which the power turns into exponent ln(base) u; then the
    /// power.
    pub fn frequency_error<R: Real>(&self, i: usize) -> f64 {
        let exponent = 2.0 * i as f64 / self.rotary_dim as f64;
        PAYS * (2.0 + exponent * self.base.ln()) * R::UNIT
    }

    /// Absolute: the angle is off by position times frequency times what the frequency, the position's
    /// conversion and the product are off by; cos and sin have slope at most 1 and round.
    pub fn cos_sin_error<R: Real>(&self, position: f64, i: usize) -> f64 {
        let angle = position.abs() * self.frequency::<f64>(i).abs();
        angle * (self.frequency_error::<R>(i) + PAYS * 2.0 * R::UNIT) + PAYS * 2.0 * R::UNIT
    }

    /// (bound, size) of every channel. A wrong angle moves a pair by its size times what it is off; what
    /// rounds x, cos, sin and products counts |a| |cos| + |b| |sin| <= size, and the sum once more.
    pub fn rotate_error<R: Real>(&self, position: f64, x: &[f64]) -> Vec<(f64, f64)> {
        let tiny = |size: f64| {
            if size > 0.0 {
                R::SMALLEST_SUBNORMAL
            } else {
                0.0
            }
        };
        let outside = |v: &f64| (R::UNIT * v.abs() + tiny(v.abs()), v.abs()); // copied, maybe rounded
        let mut out: Vec<(f64, f64)> = x.iter().map(outside).collect();
        for i in 0..self.pairs() {
            let (a, b) = self.pair(i);
            let size = x[a].hypot(x[b]);
            let relative = self.cos_sin_error::<R>(position, i) + PAYS * 3.0 * R::UNIT;
            out[a] = (relative * size + 4.0 * tiny(size), size);
            out[b] = out[a];
        }
        out
    }
}

const PAYS: f64 = 1.01;
