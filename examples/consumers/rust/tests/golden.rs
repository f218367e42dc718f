//! A test is one quantity in one type; it names every case and its first value that is farther from the
//! real number than this arithmetic can lead. A value whose bound is wider than a tenth of its size cannot
//! fail; it is counted as blind, never as passed. `cargo test -- --nocapture` shows the counts.

use golden::golden::{manifests, Case};
use golden::{Real, Scheme};

const BLIND: f64 = 0.1;

/// A result, its bound, and the size against which that is seen.
type Answer<R> = (R, f64, f64);

fn answers<R: Real>(scheme: &Scheme, case: &Case) -> Vec<(&'static str, Vec<Answer<R>>)> {
    let input = |name: &str| &case.tensors[name];
    match case.quantity.as_str() {
        "frequencies" => {
            let one = |i| {
                let exact = scheme.frequency::<f64>(i).abs();
                (
                    scheme.frequency::<R>(i),
                    scheme.frequency_error::<R>(i) * exact,
                    exact,
                )
            };
            vec![("frequencies", (0..scheme.pairs()).map(one).collect())]
        }
        "table" => {
            let places = || {
                input("positions")
                    .iter()
                    .flat_map(|&p| (0..scheme.pairs()).map(move |i| (p, i)))
            };
            let error = |(p, i)| scheme.cos_sin_error::<R>(p, i);
            let cos = places()
                .map(|(p, i)| (scheme.cos_sin::<R>(p, i).0, error((p, i)), 1.0))
                .collect();
            let sin = places()
                .map(|(p, i)| (scheme.cos_sin::<R>(p, i).1, error((p, i)), 1.0))
                .collect();
            vec![("cos", cos), ("sin", sin)]
        }
        _ => {
            let direction = if case.quantity == "rotate" { 1.0 } else { -1.0 };
            let (x, positions) = (input("x"), input("positions"));
            let heads = x.len() / positions.len() / scheme.head_dim;
            let mut out = Vec::new();
            for (row, x) in x.chunks_exact(scheme.head_dim).enumerate() {
                let position = positions[row / heads];
                let errors = scheme.rotate_error::<R>(position, x);
                let values = scheme.rotate::<R>(position, direction, x);
                out.extend(
                    values
                        .into_iter()
                        .zip(errors)
                        .map(|(v, (bound, size))| (v, bound, size)),
                );
            }
            vec![("out", out)]
        }
    }
}

/// Whether a result is as far from the stored binary64 number as the bound allows, and the half ulp that
/// this number is off itself.
fn agrees(result: f64, stored: f64, bound: f64) -> bool {
    if stored.is_nan() {
        return !result.is_finite(); // an infinity or a NaN of the input spoils its pair
    }
    if stored.is_infinite() {
        return result == stored;
    }
    (result - stored).abs() <= bound + f64::EPSILON * stored.abs() + f64::of(5e-324)
}

fn check<R: Real>(quantity: &str) {
    let (mut cases, mut compared, mut blind) = (0, 0, 0);
    let mut failures = Vec::new();
    for (parameters, all) in manifests("rope") {
        let scheme = Scheme::new(&parameters);
        for case in all
            .iter()
            .filter(|case| case.quantity == quantity && case.result != "acceptable")
        {
            // Wrong answers are to be refused in f64; fewer digits may hide what is wrong with them.
            let invalid = case.result == "invalid";
            if !case.dtypes.iter().any(|d| d == R::NAME) || (invalid && R::NAME == "f32") {
                continue;
            }
            cases += 1;
            let mut wrong = None;
            for (output, values) in answers::<R>(&scheme, case) {
                let stored = &case.tensors[&format!("{output}.f64")];
                assert_eq!(
                    values.len(),
                    stored.len(),
                    "{}: elements of {output}",
                    case.name
                );
                for (i, (&(result, bound, size), &stored)) in values.iter().zip(stored).enumerate()
                {
                    if bound > BLIND * size {
                        blind += 1;
                        continue;
                    }
                    compared += 1;
                    if wrong.is_none() && !agrees(result.wide(), stored, bound) {
                        let place = |p: &Vec<f64>| p[i / (values.len() / p.len())].to_string();
                        let position = case.tensors.get("positions").map_or("none".into(), place);
                        wrong = Some(format!(
                            "{}: {output} {}, index {i}, position {position}: got {:e}, the real \
                             number is near {stored:e}, at most {bound:e} from it is this arithmetic's",
                            case.name, R::NAME, result.wide()
                        ));
                    }
                }
            }
            match wrong {
                Some(first) if !invalid => failures.push(first),
                None if invalid => failures.push(format!(
                    "{}: agrees with what is wrong on purpose",
                    case.name
                )),
                _ => {}
            }
        }
    }
    println!(
        "{quantity} {}: {cases} cases, {compared} values compared, {blind} more blind",
        R::NAME
    );
    assert!(compared > 0, "nothing was compared");
    assert!(
        failures.is_empty(),
        "{} of {cases} cases:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn frequencies_f32() {
    check::<f32>("frequencies");
}

#[test]
fn frequencies_f64() {
    check::<f64>("frequencies");
}

#[test]
fn table_f32() {
    check::<f32>("table");
}

#[test]
fn table_f64() {
    check::<f64>("table");
}

#[test]
fn rotate_f32() {
    check::<f32>("rotate");
}

#[test]
fn rotate_f64() {
    check::<f64>("rotate");
}

#[test]
fn rotate_backward_f32() {
    check::<f32>("rotate_backward");
}

#[test]
fn rotate_backward_f64() {
    check::<f64>("rotate_backward");
}
