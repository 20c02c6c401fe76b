//! The macros [`choices!`](crate::choices) and [`parameters!`](crate::parameters), which declare parameters.
//!
//! One declaration gives a struct with typed fields, the [`Parameter`] rows, and the function that fills the struct
//! from checked [`Values`]. A choice becomes an enum, so code matches on variants and not on words.
//!
//! ```
//! use destage_base::parameter::{Kind, Value, Values};
//! use destage_base::{choices, parameters};
//!
//! choices! {
//!     /// Which request is sent next.
//!     pub enum Scheduler {
//!         /// The next one upwards.
//!         CLook = "clook",
//!         /// The one that came first.
//!         Fifo = "fifo",
//!     }
//! }
//!
//! parameters! {
//!     /// How requests reach the device.
//!     pub struct Host in "host." {
//!         /// Which waiting request is sent next.
//!         scheduler: Scheduler = "fifo", "", "DiskSim";
//!         /// Requests kept outstanding.
//!         depth: u32 = "20" in Kind::Integer { min: 1, max: 64 }, "requests", "DiskSim";
//!     }
//! }
//!
//! let mut values = Values::defaults(Host::ROWS);
//! assert_eq!(Host::ROWS[1].name, "host.depth");
//! assert_eq!(Host::ROWS[1].about, "Requests kept outstanding.");
//! values.set("host.scheduler", Host::ROWS[0].read("clook").unwrap());
//! let host = Host::from_values(&values);
//! assert_eq!((host.scheduler, host.depth), (Scheduler::CLook, 20));
//! ```

use alloc::string::String;

use super::{AUTO, Kind, Parameter, Value, Values};

/// A type that the value of a parameter can have.
pub trait Field: Sized {
    /// The possible values of the parameter, unless its row restricts them.
    const KIND: Kind;

    /// Converts `value` to this type; `None` if the value has another kind.
    fn of(value: &Value) -> Option<Self>;
}

impl Field for bool {
    const KIND: Kind = Kind::Flag;

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }
}

impl Field for u32 {
    const KIND: Kind = Kind::Integer {
        min: 0,
        max: Self::MAX as u64,
    };

    fn of(value: &Value) -> Option<Self> {
        u64::of(value).and_then(|number| Self::try_from(number).ok())
    }
}

impl Field for u64 {
    const KIND: Kind = Kind::Integer {
        min: 0,
        max: Self::MAX,
    };

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

/// A count that the user gives, or that is derived from the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountOrAuto {
    /// The count has yet to be derived from the input.
    Auto,
    /// The count.
    Count(u32),
}

impl Field for CountOrAuto {
    const KIND: Kind = Kind::CountOrAuto {
        min: 0,
        max: u32::MAX,
    };

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) if word == AUTO => Some(Self::Auto),
            other => u32::of(other).map(Self::Count),
        }
    }
}

impl Field for f64 {
    const KIND: Kind = Kind::Number {
        min: 0.0,
        max: Self::INFINITY,
    };

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl Field for String {
    const KIND: Kind = Kind::Text;

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

/// The value of `row` in `values`, or the default of `row` if `values` has none.
///
/// # Panics
/// If the value does not fit the type `T`, which is a bug in the code that set it.
#[must_use]
pub fn field<T: Field>(values: &Values, row: &Parameter) -> T {
    let value = match values.get(row.name) {
        Some(value) => T::of(value),
        None => row.read(row.default).ok().and_then(|value| T::of(&value)),
    };
    value.unwrap_or_else(|| panic!("{}: expected {}", row.name, row.expected()))
}

/// Checks that a field whose type has the kind `natural` can hold every value of `given`. Returns `given`.
///
/// # Panics
/// At compile time, if `given` allows values that the type cannot hold.
#[must_use]
pub const fn narrowed(natural: Kind, given: Kind) -> Kind {
    let fits = match (natural, given) {
        (Kind::Integer { max: most, .. }, Kind::Integer { max, .. } | Kind::Bytes { max, .. }) => {
            max <= most
        }
        (Kind::CountOrAuto { max: most, .. }, Kind::CountOrAuto { max, .. }) => max <= most,
        (Kind::Number { .. }, Kind::Number { .. }) => true,
        _ => false,
    };
    assert!(fits, "the row allows values that the field cannot hold");
    given
}

/// Checks that the name of `row` is `name`. Returns `row`.
///
/// # Panics
/// At compile time, if the row has another name.
#[must_use]
pub const fn called(name: &str, row: Parameter) -> Parameter {
    let (wanted, has) = (name.as_bytes(), row.name.as_bytes());
    let mut same = wanted.len() == has.len();
    let mut index = 0;
    while same && index < has.len() {
        same = wanted[index] == has[index];
        index += 1;
    }
    assert!(same, "a shared row has the name of its field");
    row
}

/// The text of a doc comment, without blanks at its ends.
#[must_use]
pub const fn prose(doc: &'static str) -> &'static str {
    doc.trim_ascii()
}

/// The number of rows in all `lists` together.
#[must_use]
pub const fn count(lists: &[&[Parameter]]) -> usize {
    let (mut rows, mut list) = (0, 0);
    while list < lists.len() {
        rows += lists[list].len();
        list += 1;
    }
    rows
}

/// The rows of `lists`, one list after the other.
///
/// # Panics
/// At compile time, if the lists together do not have `N` rows.
#[must_use]
pub const fn joined<const N: usize>(lists: &[&[Parameter]]) -> [Parameter; N] {
    let mut rows = [Parameter::BLANK; N];
    let (mut filled, mut list) = (0, 0);
    while list < lists.len() {
        let mut row = 0;
        while row < lists[list].len() {
            rows[filled] = lists[list][row];
            filled += 1;
            row += 1;
        }
        list += 1;
    }
    assert!(filled == N);
    rows
}

/// Declares an enum whose variants are the words of a [`Kind::Choice`](crate::parameter::Kind::Choice), in the order
/// of their declaration. The enum can be the type of a field in [`parameters!`](crate::parameters), and each variant
/// prints as its word.
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$about:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $visibility enum $name {
            $( $(#[$about])* $variant, )+
        }

        impl $crate::parameter::Field for $name {
            const KIND: $crate::parameter::Kind = $crate::parameter::Kind::Choice(&[$($word),+]);

            fn of(value: &$crate::parameter::Value) -> ::core::option::Option<Self> {
                match value {
                    $( $crate::parameter::Value::Text(word) if word == $word => {
                        ::core::option::Option::Some(Self::$variant)
                    } )+
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                formatter.pad(match self {
                    $( Self::$variant => $word, )+
                })
            }
        }
    };
}

/// Declares parameters: a struct with one field for each parameter, the rows `ROWS` of the struct, and the
/// constructor `from_values` of the struct.
///
/// ```text
/// struct Name in "prefix." {          rows are named after the fields, with this prefix if there is one
///     /// What the parameter does.    becomes `about` of the row
///     field: Type = "default", "unit", "source";
///     /// What the parameter does.
///     field: Type = "default" in KIND, "unit", "source";      allows fewer values than the type
///     field: Type = "default", "unit", "source", needs &["other.key > 1"], excludes &[...];     either may be omitted
///     field: Type as ROW;             a row that several declarations share; it must have the name of the field
///     field: Type as ROW { default: "other" };                the shared row with some entries replaced
///     field: Struct;                  inserts the parameters of another declaration here
/// }
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident { $($fields:tt)* }
    ) => {
        $crate::parameters! {
            $(#[$meta])*
            $visibility struct $name in "" { $($fields)* }
        }
    };
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident in $prefix:literal {
            $(
                $(#[doc = $about:literal])*
                $field:ident : $type:ty
                $(as $row:path $({ $($key:ident : $value:expr),+ $(,)? })?)?
                $(= $default:literal $(in $kind:expr)?, $unit:expr, $source:expr $(, needs $needs:expr)? $(, excludes $excludes:expr)?)?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        $visibility struct $name {
            $( $(#[doc = $about])* $visibility $field: $type, )*
        }

        impl $name {
            /// Name, kind, default, unit, meaning and source of each parameter.
            $visibility const ROWS: &'static [$crate::parameter::Parameter] = {
                const LISTS: &[&[$crate::parameter::Parameter]] = &[
                    $( $crate::parameter_rows!(
                        $prefix [$($about)*] $field [$type]
                        $(as $row $({ $($key: $value),+ })?)?
                        $(= $default $(in $kind)?, $unit, $source $(, needs $needs)? $(, excludes $excludes)?)?
                    ), )*
                ];
                const JOINED: [$crate::parameter::Parameter; $crate::parameter::count(LISTS)] =
                    $crate::parameter::joined(LISTS);
                &JOINED
            };

            /// The struct with the values in `values`. A parameter without a value gets its default.
            #[must_use]
            $visibility fn from_values(values: &$crate::parameter::Values) -> Self {
                Self {
                    $( $field: $crate::parameter_value!(
                        values $prefix [$($about)*] $field [$type]
                        $(as $row $({ $($key: $value),+ })?)?
                        $(= $default $(in $kind)?, $unit, $source $(, needs $needs)? $(, excludes $excludes)?)?
                    ), )*
                }
            }
        }
    };
}

/// The rows of one field of [`parameters!`](crate::parameters).
#[doc(hidden)]
#[macro_export]
macro_rules! parameter_rows {
    (
        $prefix:literal [$($about:literal)+] $field:ident [$type:ty]
        = $default:literal, $unit:expr, $source:expr $(, needs $needs:expr)? $(, excludes $excludes:expr)?
    ) => {
        &[$crate::parameter::Parameter {
            name: ::core::concat!($prefix, ::core::stringify!($field)),
            kind: <$type as $crate::parameter::Field>::KIND,
            default: $default,
            unit: $unit,
            about: $crate::parameter::prose(::core::concat!($($about),+)),
            source: $source,
            ..$crate::parameter::Parameter::BLANK
        }$(.needing($needs))?$(.excluding($excludes))?]
    };
    (
        $prefix:literal [$($about:literal)+] $field:ident [$type:ty]
        = $default:literal in $kind:expr, $unit:expr, $source:expr $(, needs $needs:expr)? $(, excludes $excludes:expr)?
    ) => {
        &[$crate::parameter::Parameter {
            name: ::core::concat!($prefix, ::core::stringify!($field)),
            kind: $crate::parameter::narrowed(<$type as $crate::parameter::Field>::KIND, $kind),
            default: $default,
            unit: $unit,
            about: $crate::parameter::prose(::core::concat!($($about),+)),
            source: $source,
            ..$crate::parameter::Parameter::BLANK
        }$(.needing($needs))?$(.excluding($excludes))?]
    };
    (
        $prefix:literal [$($about:literal)*] $field:ident [$type:ty]
        as $row:path $({ $($key:ident : $value:expr),+ })?
    ) => {
        &[$crate::parameter::called(
            ::core::concat!($prefix, ::core::stringify!($field)),
            $crate::parameter::Parameter { $($($key: $value,)+)? ..$row },
        )]
    };
    ($prefix:literal [$($about:literal)*] $field:ident [$type:ty]) => {
        <$type>::ROWS
    };
}

/// The value of one field of [`parameters!`](crate::parameters).
#[doc(hidden)]
#[macro_export]
macro_rules! parameter_value {
    ($values:ident $prefix:literal [$($about:literal)*] $field:ident [$type:ty]) => {
        <$type>::from_values($values)
    };
    (
        $values:ident $prefix:literal [$($about:literal)*] $field:ident [$type:ty]
        $($row:tt)+
    ) => {{
        const ROW: $crate::parameter::Parameter = $crate::parameter_rows!(
            $prefix [$($about)*] $field [$type] $($row)+
        )[0];
        $crate::parameter::field::<$type>($values, &ROW)
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: Parameter = Parameter {
        name: "share",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        default: "0.25",
        unit: "",
        about: "A share.",
        source: "ours",
        ..Parameter::BLANK
    };

    choices! {
        /// Two words.
        enum Word {
            First = "first",
            Second = "second",
        }
    }

    parameters! {
        /// The inner ones.
        struct Inner {
            /// A count,
            /// in two lines.
            count: u32 = "3" in Kind::Integer { min: 1, max: 9 }, "pages", "ours";
            share: f64 as SHARED { default: "0.5" };
        }
    }

    parameters! {
        /// All.
        struct Outer {
            /// A word.
            word: Word = "second", "", "ours";
            inner: Inner;
            /// A flag.
            flag: bool = "true", "", "ours";
            /// A count that may be found.
            room: CountOrAuto = "auto" in Kind::CountOrAuto { min: 1, max: 9 }, "", "ours";
        }
    }

    #[test]
    fn rows_stand_in_the_order_of_their_declaration() {
        let names: alloc::vec::Vec<_> = Outer::ROWS.iter().map(|row| row.name).collect();
        assert_eq!(names, ["word", "count", "share", "flag", "room"]);
        assert_eq!(Outer::ROWS[0].kind, Kind::Choice(&["first", "second"]));
        assert_eq!(Outer::ROWS[1].about, "A count, in two lines.");
        assert_eq!(Outer::ROWS[2].kind, SHARED.kind);
    }

    #[test]
    fn what_was_set_wins_over_the_default_of_the_row() {
        let mut values = Values::default();
        values.set("word", Value::Text("first".into()));
        values.set("count", Value::Integer(9));
        let read = Outer::from_values(&values);
        let inner = Inner {
            count: 9,
            share: 0.5,
        };
        assert_eq!(
            read,
            Outer {
                word: Word::First,
                inner,
                flag: true,
                room: CountOrAuto::Auto,
            }
        );
        values.set("room", Value::Integer(7));
        assert_eq!(Outer::from_values(&values).room, CountOrAuto::Count(7));
        assert_eq!(alloc::format!("{}", read.word), "first");
    }

    #[test]
    #[should_panic(expected = "count: expected a whole number from 1 to 9")]
    fn a_value_of_another_kind_is_a_bug() {
        let mut values = Values::default();
        values.set("count", Value::Flag(true));
        let _ = Inner::from_values(&values);
    }
}
