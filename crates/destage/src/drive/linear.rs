//! The inverse of a small matrix.

/// `scale` times the inverse of the symmetric, positive definite `matrix`, by Gauss-Jordan elimination with
/// partial pivoting.
pub(super) fn inverse(matrix: &[Vec<f64>], scale: f64) -> Vec<Vec<f64>> {
    let count = matrix.len();
    let mut left = matrix.to_vec();
    let mut right: Vec<Vec<f64>> = (0..count)
        .map(|row| {
            (0..count)
                .map(|column| if row == column { scale } else { 0.0 })
                .collect()
        })
        .collect();
    for column in 0..count {
        let size = |row: &usize| left[*row][column].abs();
        let largest = (column..count).max_by(|one, other| size(one).total_cmp(&size(other)));
        let pivot = largest.unwrap_or(column);
        left.swap(column, pivot);
        right.swap(column, pivot);
        let by = left[column][column];
        if by == 0.0 {
            continue;
        }
        for side in [&mut left, &mut right] {
            side[column].iter_mut().for_each(|value| *value /= by);
        }
        for row in (0..count).filter(|row| *row != column) {
            let times = left[row][column];
            for side in [&mut left, &mut right] {
                let pivots = side[column].clone();
                for (value, pivot) in side[row].iter_mut().zip(&pivots) {
                    *value -= times * pivot;
                }
            }
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::inverse;

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        let matrix = vec![
            vec![4.0, 1.0, 0.0],
            vec![1.0, 3.0, 2.0],
            vec![0.0, 2.0, 5.0],
        ];
        let inverted = inverse(&matrix, 2.0);
        for (row, line) in matrix.iter().enumerate() {
            let mut products = [0.0; 3];
            for (of, under) in line.iter().zip(&inverted) {
                for (product, value) in products.iter_mut().zip(under) {
                    *product += of * value;
                }
            }
            for (column, product) in products.iter().enumerate() {
                let expected = if row == column { 2.0 } else { 0.0 };
                assert!(
                    (product - expected).abs() < 1e-12,
                    "{row} {column} {product}"
                );
            }
        }
    }
}
