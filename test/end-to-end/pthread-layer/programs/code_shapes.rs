// A pair of loops with the same work, one with three times the iterations, as in code_shapes.c.
#[inline(never)]
fn vectorized(a: &mut [f64], count: usize) {
    for x in a[..count].iter_mut() { *x = *x * 0.5 + 1.0; } // vectorized one
    for x in a[..3 * count].iter_mut() { *x = *x * 0.5 + 2.0; } // vectorized three
}

fn main() {
    let mut numbers = vec![0.0; 3072];
    for _ in 0..200000 {
        vectorized(&mut numbers, 1024);
    }
    std::process::exit((numbers[0] == 12345.0) as i32);
}
