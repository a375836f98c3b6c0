//! The text that is written: columns, indentation, and comments that end their line.

/// A text that grows. Blanks and new lines wait for what follows them, so that no line ends in blanks.
#[derive(Default)]
pub(super) struct Out {
    text: String,
    /// Where the next token would begin.
    column: usize,
    /// Where new lines begin.
    pub(super) indent: usize,
    newlines: usize,
    spaces: usize,
    /// Where the comment began that ends the current line.
    comment: Option<usize>,
}

impl Out {
    pub(super) fn space(&mut self) {
        self.spaces += 1;
        self.column += 1;
    }

    pub(super) fn newline(&mut self) {
        self.newlines += 1;
        self.spaces = self.indent;
        self.column = self.indent;
        self.comment = None;
    }

    /// Takes back the new lines that nothing followed yet.
    pub(super) fn drop_newlines(&mut self) {
        self.newlines = 0;
    }

    /// Whether nothing stands on the current line.
    pub(super) fn is_fresh(&self) -> bool {
        self.newlines > 0 || self.text.is_empty()
    }

    /// Writes something that has no new line.
    pub(super) fn write(&mut self, text: &str) {
        self.break_after_comment();
        if !self.text.is_empty() {
            // A blank line is as much as stays of several.
            for _ in 0..self.newlines.min(2) {
                self.text.push('\n');
            }
        }
        for _ in 0..self.spaces {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.column += text.chars().count();
        self.newlines = 0;
        self.spaces = 0;
    }

    /// New lines begin at the current column; gives where they began.
    pub(super) fn align(&mut self) -> usize {
        let before = self.indent;
        match self.comment {
            None => self.indent = self.column,
            Some(column) => {
                self.indent = column;
                self.newline();
            }
        }
        before
    }

    /// Nothing stands behind a comment.
    pub(super) fn break_after_comment(&mut self) {
        if self.comment.is_some() {
            self.newline();
        }
    }

    /// A comment on the line of what was written last.
    pub(super) fn comment_behind(&mut self, text: &str) {
        self.break_after_comment();
        if !self.is_fresh() {
            let blank = usize::from(self.spaces > 0 || !self.text.ends_with('('));
            self.column = self.column - self.spaces + blank;
            self.spaces = blank;
        }
        let column = self.column;
        self.write(text);
        self.comment = Some(column);
    }

    /// A comment and the end of its line.
    pub(super) fn comment(&mut self, text: &str) {
        self.comment_behind(text);
        self.newline();
    }

    /// The text, which ends in a new line unless it is empty.
    pub(super) fn finish(mut self) -> String {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text
    }
}
