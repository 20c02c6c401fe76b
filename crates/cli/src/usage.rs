//! The commands in groups, and the errors about wrong arguments.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};
use destage_sim::settings::suggestion;

use crate::args::Arguments;
use crate::output::summary::width;

/// The commands by their purpose. A command that is in no group is listed after all groups.
const GROUPS: [(&str, &[&str]); 8] = [
    (
        "Simulate",
        &["run", "compare", "curve", "precondition", "demo"],
    ),
    ("Decide", &["size", "fleet"]),
    ("Drives", &["drive"]),
    ("A live device", &["serve", "device", "replay", "crash"]),
    ("Papers and studies", &["reproduce", "study"]),
    ("Traces", &["trace"]),
    ("Look up", &["list", "show", "explain"]),
    ("This program", &["completions", "man", "version", "help"]),
];

/// The width of the column of command names.
const INDENT: usize = 16;

/// The command line, whose help lists commands in groups.
pub(crate) fn command() -> Command {
    let mut command = Arguments::command();
    command.build();
    let groups = groups(&command, width().min(100));
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n`destage COMMAND --help` lists the options of a command; `destage explain NAME` explains a name or a message."
    ))
}

fn groups(command: &Command, width: usize) -> String {
    let listed = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let names = command.get_subcommands().map(Command::get_name);
    let more: Vec<&str> = names.filter(|name| !listed(name)).collect();
    let mut text = String::new();
    for (title, names) in GROUPS.iter().copied().chain([("More", more.as_slice())]) {
        let there: Vec<&Command> = names
            .iter()
            .filter_map(|name| command.find_subcommand(name))
            .collect();
        if there.is_empty() {
            continue;
        }
        text.push_str(&format!("{title}:\n"));
        for one in there {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let name = format!("  {}", one.get_name());
            text.push_str(&format!(
                "{name:INDENT$}{}\n",
                folded(&about, width.saturating_sub(INDENT).max(24))
            ));
        }
        text.push('\n');
    }
    text
}

/// `text` in lines of at most `width` characters, with later lines indented.
fn folded(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            let gap = if lines[last].is_empty() { "" } else { " " };
            lines[last].push_str(&format!("{gap}{word}"));
        }
    }
    lines.join(&format!("\n{}", " ".repeat(INDENT)))
}

/// The error in the arguments `words`, the first of which is the name of the program, as one line; `None` if the user
/// requested the help or the version.
pub(crate) fn refusal(error: &clap::Error, words: &[OsString]) -> Option<String> {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        return None;
    }
    let text = error.render().to_string();
    let mut wrong = String::new();
    let mut asked = asked(words);
    let mut is_first = true;
    for line in text.lines().map(str::trim) {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let words = usage
                .split(' ')
                .take_while(|word| !word.starts_with(['[', '<', '-']));
            asked = words.collect::<Vec<_>>().join(" ");
        } else if line.starts_with("tip: to pass ") {
            // A value that begins with a hyphen, given after --, would be an input.
        } else if let Some(tip) = line.strip_prefix("tip: ") {
            wrong.push_str(&format!("; {}", meant(tip)));
        } else if line.is_empty() {
            is_first = false;
        } else if is_first {
            let gap = if wrong.is_empty() { "" } else { " " };
            wrong.push_str(&format!("{gap}{}", line.trim_start_matches("error: ")));
        }
    }
    if let (false, Some(ContextValue::String(given))) = (
        wrong.contains("did you mean"),
        error.get(ContextKind::InvalidSubcommand),
    ) {
        let command = Arguments::command();
        let mut within = asked.split(' ').skip(1);
        let of = within.try_fold(&command, |of, name| of.find_subcommand(name));
        let names = of.unwrap_or(&command).get_subcommands();
        let names: Vec<&str> = names.map(Command::get_name).collect();
        wrong.push_str(&suggestion(given, names.into_iter()));
    }
    let all = Arguments::command();
    let chosen = all.find_subcommand(asked.trim_start_matches("destage "));
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && !given.starts_with('-')
        && chosen.is_some_and(|command| command.get_arguments().any(Arg::is_last_set))
    {
        wrong.push_str("; expected -- before the program");
    }
    let lacks_trace = error.kind() == ErrorKind::MissingRequiredArgument
        && wrong.contains("<TRACE>")
        && chosen.is_some_and(|command| {
            command
                .get_arguments()
                .any(|argument| argument.get_id() == "workload")
        });
    if lacks_trace {
        wrong =
            "there is no input; expected a trace file, - for standard input, or --workload NAME"
                .to_owned();
    }
    if let Some((before, range)) = wrong.split_once(" is not in ")
        && let Some((least, most)) = range.split_once("..=")
    {
        let before = before
            .rsplit_once(": ")
            .map_or(before, |(before, _)| before);
        wrong = format!("{before}; expected a number from {least} to {most}");
    }
    let lists = match error.kind() {
        ErrorKind::InvalidSubcommand => "commands",
        _ => "options",
    };
    Some(format!("{wrong}; `{asked} --help` lists the {lists}"))
}

/// The names of the commands at the beginning of `words`, such as `destage drive check`.
fn asked(words: &[OsString]) -> String {
    let mut asked = "destage".to_owned();
    let all = Arguments::command();
    let mut command = &all;
    let mut words = words.iter().skip(1).map_while(|word| word.to_str());
    while let Some(word) = words.next() {
        if word == "--memory-limit" {
            // The value of the only option that may precede a command.
            words.next();
            continue;
        }
        let Some(within) = command.find_subcommand(word) else {
            break;
        };
        asked.push(' ');
        asked.push_str(word);
        command = within;
    }
    asked
}

/// The hint of the argument parser, in the form that other messages have.
fn meant(tip: &str) -> String {
    let similar = tip.starts_with("a similar") || tip.starts_with("some similar");
    match (similar, tip.split_once('\'')) {
        (true, Some((_, names))) => format!("did you mean '{names}?"),
        _ => tip.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> String {
        let words = ["destage"].iter().chain(words);
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let error = command().try_get_matches_from(&words).unwrap_err();
        refusal(&error, &words).unwrap_or_default()
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut names: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let help = command().render_help().to_string();
        for one in command().get_subcommands() {
            let line = format!("\n  {} ", one.get_name());
            assert_eq!(help.matches(&line).count(), 1, "{}: {help}", one.get_name());
        }
        assert!(!help.contains("More:"), "{help}");
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        assert_eq!(
            said(&["rnu"]),
            "unrecognized subcommand 'rnu'; did you mean \"run\"?; `destage --help` lists the commands"
        );
        assert_eq!(
            said(&["run"]),
            "there is no input; expected a trace file, - for standard input, or --workload NAME; `destage run --help` lists the options"
        );
        let text = said(&["run", "t", "--bufer", "lru"]);
        assert!(
            text.contains("unexpected argument '--bufer' found; did you mean '--buffer'?"),
            "{text}"
        );
        let text = said(&["list", "bufers"]);
        assert!(
            text.contains("did you mean 'buffers'?")
                && text.contains("possible values: buffers, ftls"),
            "{text}"
        );
        assert!(!text.contains('\n'), "{text}");
        let text = said(&["crash", "--cuts", "0"]);
        assert!(
            text.ends_with(
                "; expected a number from 1 to 4294967295; `destage crash --help` lists the options"
            ),
            "{text}"
        );
        assert_eq!(
            said(&["crash", "--fs", "none", "python3", "x.py"]),
            "unexpected argument 'python3' found; expected -- before the program; `destage crash --help` lists the options"
        );
        let text = said(&["run", "t", "-s", "-5"]);
        assert!(!text.contains("as a value"), "{text}");
    }

    #[test]
    fn the_letters_of_options_say_the_same_everywhere() {
        let letters = [
            ('b', "buffer"),
            ('s', "size"),
            ('f', "ftl"),
            ('w', "workload"),
            ('p', "profile"),
            ('c', "config"),
            ('k', "set"),
            ('n', "limit"),
            ('t', "threads"),
            ('g', "goal"),
            ('m', "metric"),
            ('o', "output"),
            ('q', "quiet"),
        ];
        let of = |command: &Command| {
            for argument in command.get_arguments() {
                let Some(letter) = argument.get_short() else {
                    continue;
                };
                let name = argument.get_id().as_str();
                let known = letters.iter().any(|(short, long)| {
                    *short == letter && (name == *long || name.strip_suffix('s') == Some(*long))
                });
                assert!(
                    known || matches!(name, "help" | "version"),
                    "{}: -{letter} {name}",
                    command.get_name()
                );
            }
        };
        let command = command();
        for one in command.get_subcommands() {
            of(one);
            one.get_subcommands().for_each(of);
        }
    }
}
