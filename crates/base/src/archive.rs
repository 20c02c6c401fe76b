//! Writing the state of a value as bytes, and reading the state from the bytes.
//!
//! A type lists the fields of its state once, with [`archived!`](crate::archived). Writing and reading use the same
//! list of fields. The bytes are read into a value that was constructed in the same way as the written value. So the
//! bytes do not contain what the construction determines: counts, limits, rules, and the lengths of some lists.
//!
//! Numbers are little-endian, and the length of a list precedes its elements. Reading checks lengths, and checks that
//! no item is twice in a [`List`]. It checks no other contents. A caller that stores the bytes must add a checksum
//! and the parameters of the value.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::list::List;

/// An error of an archive: the bytes end too early, cannot be written, or do not fit the value. They do not fit if a
/// list has a length that the value does not allow, if a [`List`] has an item twice, or if a number is too large for
/// `usize`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damaged;

/// The destination or the source of the bytes. The closures return whether they succeeded.
pub enum Archive<'a> {
    /// Writes all of the given bytes.
    Write(&'a mut dyn FnMut(&[u8]) -> bool),
    /// Fills the whole of the given slice.
    Read(&'a mut dyn FnMut(&mut [u8]) -> bool),
}

impl Archive<'_> {
    /// Writes `bytes`, or overwrites them with the bytes that are read.
    ///
    /// # Errors
    /// [`Damaged`] if the closure fails.
    pub fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Damaged> {
        let done = match self {
            Self::Write(write) => write(bytes),
            Self::Read(read) => read(bytes),
        };
        if done { Ok(()) } else { Err(Damaged) }
    }

    /// Writes `len` and returns it, or returns the length that is read.
    ///
    /// # Errors
    /// [`Damaged`] if the closure fails, or if the length that is read does not fit a `usize`.
    pub fn len(&mut self, mut len: usize) -> Result<usize, Damaged> {
        len.archive(self)?;
        Ok(len)
    }
}

/// The archive of `value`, as bytes.
///
/// # Errors
/// The errors of [`Archived::archive`].
pub fn to_bytes(value: &mut (impl Archived + ?Sized)) -> Result<Vec<u8>, Damaged> {
    let mut bytes = Vec::new();
    let mut write = |part: &[u8]| {
        bytes.extend_from_slice(part);
        true
    };
    value.archive(&mut Archive::Write(&mut write))?;
    Ok(bytes)
}

/// A value whose state can be written as bytes, and read into a value that was constructed in the same way.
pub trait Archived {
    /// Writes the state, or replaces the state by the one that is read.
    ///
    /// # Errors
    /// [`Damaged`] if the bytes cannot be written or read, or do not fit this value. A value that was read only
    /// in part must not be used.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged>;

    /// The value of a new element of a list, before the element is read. With the default, `None`, reading cannot
    /// change the length of a list of such elements.
    fn vacant() -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Implements [`Archived`](crate::archive::Archived) for a struct, from the list of the fields that are its state.
/// Fields after `fixed` are determined by the construction of the value, and are not archived. With `vacant`, lists
/// of this type may be read with any length.
///
/// ```
/// use destage_base::archive::to_bytes;
/// struct Queue {
///     waiting: Vec<u32>,
///     limit: usize,
/// }
/// destage_base::archived!(Queue { waiting } fixed { limit });
///
/// let mut queue = Queue { waiting: vec![7, 8], limit: 3 };
/// let bytes = to_bytes(&mut queue).unwrap();
/// assert_eq!(bytes, [2, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0]);
/// ```
#[macro_export]
macro_rules! archived {
    ([$($generics:tt)*] $name:ty { $($part:ident),* $(,)? } $(fixed { $($fixed:ident),* $(,)? })?) => {
        impl<$($generics)*> $crate::archive::Archived for $name {
            $crate::archived!(@parts { $($part),* } { $($($fixed),*)? });
        }
    };
    (
        $name:ident { $($part:ident),* $(,)? }
        $(fixed { $($fixed:ident),* $(,)? })? $(vacant $vacant:expr)?
    ) => {
        impl $crate::archive::Archived for $name {
            $crate::archived!(@parts { $($part),* } { $($($fixed),*)? });
            $(fn vacant() -> Option<Self> {
                Some($vacant)
            })?
        }
    };
    (@parts { $($part:ident),* } { $($fixed:ident),* }) => {
        fn archive(
            &mut self,
            archive: &mut $crate::archive::Archive<'_>,
        ) -> Result<(), $crate::archive::Damaged> {
            // This pattern does not compile until a new field is listed as a part or as fixed.
            let Self { $($part,)* $($fixed: _,)* } = self;
            $($crate::archive::Archived::archive($part, archive)?;)*
            let _ = archive;
            Ok(())
        }
    };
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Archived for $number {
            #[inline]
            fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
                let mut bytes = self.to_le_bytes();
                archive.bytes(&mut bytes)?;
                *self = Self::from_le_bytes(bytes);
                Ok(())
            }
            fn vacant() -> Option<Self> {
                Some(0)
            }
        })*
    };
}
numbers!(u8, u16, u32, u64);

impl Archived for usize {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let mut number = *self as u64;
        number.archive(archive)?;
        *self = Self::try_from(number).map_err(|_| Damaged)?;
        Ok(())
    }
}

impl Archived for bool {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let mut number = u8::from(*self);
        number.archive(archive)?;
        *self = number != 0;
        Ok(())
    }
}

macro_rules! tuples {
    ($(($($part:ident),*)),*) => {
        $(impl<$($part: Archived),*> Archived for ($($part,)*) {
            fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
                #[expect(non_snake_case, reason = "each part has the name of its type")]
                let ($($part,)*) = self;
                $($part.archive(archive)?;)*
                Ok(())
            }
            fn vacant() -> Option<Self> {
                Some(($($part::vacant()?,)*))
            }
        })*
    };
}
tuples!((A, B), (A, B, C));

impl<T: Archived> Archived for Reverse<T> {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        self.0.archive(archive)
    }
    fn vacant() -> Option<Self> {
        T::vacant().map(Self)
    }
}

impl<T: Archived, const N: usize> Archived for [T; N] {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        self.iter_mut().try_for_each(|part| part.archive(archive))
    }
}

impl<T: Archived> Archived for Option<T> {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let mut is_some = self.is_some();
        is_some.archive(archive)?;
        if !is_some {
            *self = None;
            return Ok(());
        }
        if self.is_none() {
            *self = T::vacant();
        }
        self.as_mut().ok_or(Damaged)?.archive(archive)
    }
}

/// A list grows as its elements are read. So a false length in the bytes causes no large allocation.
impl<T: Archived> Archived for Vec<T> {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let len = archive.len(self.len())?;
        if len < self.len() && T::vacant().is_none() {
            return Err(Damaged);
        }
        self.truncate(len);
        for index in 0..len {
            if index == self.len() {
                self.push(T::vacant().ok_or(Damaged)?);
            }
            self[index].archive(archive)?;
        }
        Ok(())
    }
    fn vacant() -> Option<Self> {
        Some(Self::new())
    }
}

impl<T: Archived> Archived for VecDeque<T> {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let mut items: Vec<T> = core::mem::take(self).into();
        items.archive(archive)?;
        *self = items.into();
        Ok(())
    }
}

impl<T: Archived + Ord + Clone> Archived for BTreeSet<T> {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let mut items: Vec<T> = core::mem::take(self).into_iter().collect();
        items.archive(archive)?;
        self.extend(items);
        Ok(())
    }
}

/// The items of the list, from front to back.
impl Archived for List<u32> {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let mut items: Vec<u32> = core::iter::from_fn(|| self.pop_front()).collect();
        items.archive(archive)?;
        for item in items {
            if self.contains(item) {
                return Err(Damaged);
            }
            self.push_back(item);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::vec;

    use super::*;

    /// Reads `value` from the beginning of `bytes`.
    pub(crate) fn read(value: &mut impl Archived, mut bytes: &[u8]) -> Result<(), Damaged> {
        let mut read = |part: &mut [u8]| match bytes.split_at_checked(part.len()) {
            Some((first, rest)) => {
                part.copy_from_slice(first);
                bytes = rest;
                true
            }
            None => false,
        };
        value.archive(&mut Archive::Read(&mut read))
    }

    #[test]
    fn what_was_written_is_read_over_what_was_there() {
        let mut list = List::new(4);
        [3, 0, 2].into_iter().for_each(|item| list.push_back(item));
        let mut set = BTreeSet::from([(Reverse(1_u8), 9_u16), (Reverse(4), 7)]);
        let mut value = (
            list,
            (vec![vec![1_u16], vec![]], (Some(5_u64), true)),
            17_usize,
        );
        let bytes = to_bytes(&mut value).unwrap();
        assert_eq!(value.0.iter().collect::<Vec<_>>(), [3, 0, 2], "unchanged");
        let mut other = (List::new(4), (Vec::new(), (None, false)), 0);
        other.0.push_back(1);
        read(&mut other, &bytes).expect("what was written");
        assert_eq!(other.0.iter().collect::<Vec<_>>(), [3, 0, 2]);
        assert_eq!((other.1, other.2), (value.1, value.2));
        let bytes = to_bytes(&mut set).unwrap();
        let mut other = BTreeSet::new();
        read(&mut other, &bytes).expect("what was written");
        assert_eq!(other, set);
    }

    #[test]
    fn bytes_that_end_early_or_do_not_fit_are_refused() {
        let bytes = to_bytes(&mut vec![1_u32, 2, 3]).unwrap();
        for end in 0..bytes.len() {
            assert_eq!(read(&mut vec![0_u32], &bytes[..end]), Err(Damaged), "{end}");
        }
        // A false length in the bytes does not cause a large allocation.
        assert_eq!(read(&mut Vec::<u32>::new(), &[0xff; 40]), Err(Damaged));
        // A list whose elements have no `vacant` cannot change its length.
        let mut two = vec![[0_u8; 2]; 2];
        assert_eq!(
            read(&mut two, &to_bytes(&mut vec![[1_u8; 2]; 3]).unwrap()),
            Err(Damaged)
        );
        assert_eq!(
            read(&mut two, &to_bytes(&mut vec![[1_u8; 2]; 1]).unwrap()),
            Err(Damaged)
        );
        assert_eq!(
            read(&mut two, &to_bytes(&mut vec![[1_u8; 2]; 2]).unwrap()),
            Ok(())
        );
    }
}
