//! Parses requests that a study file lists one by one, which is practical for small worked examples.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_MS;
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

/// Parses the requests in `text`; a page has `page_bytes` bytes. The text consists of words. `4` is a write of
/// page 4, and `4-7` is one write of the pages 4 to 7. The letter `r` before the pages makes the request a read,
/// and `t` makes it a trim. `flush` is a flush. `+250` is a pause of 250 milliseconds before the next request.
/// Requests without a pause between them arrive at the same time.
///
/// # Errors
/// If a word has none of these forms. The error message contains the word.
pub(super) fn requests(text: &str, page_bytes: u64) -> Result<Vec<Request>, String> {
    let mut requests = Vec::new();
    let mut arrival: Ticks = 0;
    for word in text.split_whitespace() {
        let refused = || {
            format!(
                "pages: {word:?}: expected a page such as 4, several such as 4-7, with r (read) or t (trim) before them, flush, or a pause such as +250 (ms)"
            )
        };
        if let Some(pause) = word.strip_prefix('+') {
            let pause: u32 = pause.parse().map_err(|_| refused())?;
            arrival += Ticks::from(pause) * TICKS_PER_MS;
            continue;
        }
        let (operation, range) = match word {
            "flush" => (Operation::Flush, None),
            _ => match word.split_at_checked(1) {
                Some(("r", rest)) => (Operation::Read, Some(rest)),
                Some(("t", rest)) => (Operation::Trim, Some(rest)),
                _ => (Operation::Write, Some(word)),
            },
        };
        let (first, last) = match range {
            None => (0, None),
            Some(range) => {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let number = |text: &str| text.parse::<u32>().map_err(|_| refused());
                let (first, last) = (number(first)?, number(last)?);
                if last < first {
                    return Err(refused());
                }
                (u64::from(first), Some(u64::from(last)))
            }
        };
        let sectors_of_page = page_bytes / SECTOR_BYTES;
        let pages = last.map_or(0, |last| last - first + 1);
        requests.push(Request {
            arrival,
            sector: first * sectors_of_page,
            sectors: u32::try_from(pages * sectors_of_page).map_err(|_| refused())?,
            line: u32::try_from(requests.len() + 1).unwrap_or(u32::MAX),
            operation,
            ..Request::BLANK
        });
    }
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_requests() {
        let all = requests("3 4-5 r1 +2 t0 flush", 1024).unwrap();
        let short: Vec<_> = all
            .iter()
            .map(|each| (each.operation, each.sector, each.sectors, each.arrival))
            .collect();
        assert_eq!(
            short,
            [
                (Operation::Write, 6, 2, 0),
                (Operation::Write, 8, 4, 0),
                (Operation::Read, 2, 2, 0),
                (Operation::Trim, 0, 2, 2 * TICKS_PER_MS),
                (Operation::Flush, 0, 0, 2 * TICKS_PER_MS),
            ]
        );
        for wrong in ["x", "5-4", "-", "4-", "+", "r", "99999999999"] {
            let text = requests(wrong, 1024).unwrap_err();
            assert!(text.contains(&format!("{wrong:?}")), "{text}");
        }
    }
}
