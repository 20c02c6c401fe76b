//! Stand-ins fitted to a trace.
mod fit;
mod generate;
mod history;
mod order;
mod profile;
mod text;
pub use fit::Fitter;
pub use generate::Fitted;
pub use profile::Profile;
pub use text::ProfileError;
