//! Finding test blocks in the text of a program.

/// A test block with the comment signs taken off.
pub(super) struct Block {
    /// The lines after `-- ==`, joined by line breaks; the first is what stands behind `==` on its line.
    pub(super) text: String,
    /// The line of the program on which the block begins, from one.
    pub(super) first_line: usize,
}

/// The blocks in order. A block begins at a line that begins with `-- ==`, and ends before the first line that does
/// not begin with `--`. A line of more signs, `-- =====`, is a ruler between comments.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let Some(rest) = line
            .strip_prefix("-- ==")
            .filter(|rest| !rest.starts_with('='))
        else {
            continue;
        };
        let mut text = String::from(rest);
        // The line that ends the block cannot begin another one.
        for (line, _) in lines.by_ref() {
            let Some(rest) = line.strip_prefix("--") else {
                break;
            };
            text.push('\n');
            text.push_str(rest);
        }
        blocks.push(Block {
            text,
            first_line: number,
        });
    }
    blocks
}
