//! Numbers on the command line: bytes, seconds, threads.

/// `4096`, `512M`, `1.5GiB`: binary multiples, the unit's `B` or `iB` may be left out.
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no size such as 4096, 512M or 1.5G");
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * (1u64 << shift) as f64;
    if bytes >= u64::MAX as f64 {
        return Err(wrong());
    }
    Ok(bytes as u64)
}

/// A number of seconds, not negative.
pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('s').parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && (0.0..1e9).contains(&seconds) => Ok(seconds),
        Ok(_) | Err(_) => Err(format!("{text:?} is no number of seconds")),
    }
}

/// A number of threads that a machine can have.
pub(super) fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        Ok(_) | Err(_) => Err(format!("{text:?} is no number of threads from 1 to 1024")),
    }
}

/// A width of vector registers that code is made for.
pub(super) fn parse_vector_bits(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(bits @ (128 | 256 | 512)) => Ok(bits),
        Ok(_) | Err(_) => Err(format!("{text:?} is none of 128, 256 and 512")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_binary() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("2k"), Ok(2048));
        assert_eq!(parse_bytes("1.5GiB"), Ok(3 << 29));
        assert!(
            parse_bytes("x").is_err() && parse_bytes("1q").is_err() && parse_bytes("").is_err()
        );
        assert_eq!(parse_seconds("1.5s"), Ok(1.5));
        assert_eq!(parse_threads("2"), Ok(2));
        assert!(parse_threads("0").is_err() && parse_threads("100000").is_err());
        assert_eq!(parse_vector_bits("512"), Ok(512));
        assert!(parse_vector_bits("64").is_err());
        assert!(parse_seconds("-1").is_err() && parse_seconds("inf").is_err());
    }
}
