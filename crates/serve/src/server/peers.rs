//! The connections of the server.

use super::peer::{Peer, PeerId, Role};
use super::stream::Stream;

/// All connections, each at the place that its token in the poll names.
#[derive(Default)]
pub(super) struct Peers {
    places: Vec<Option<Box<Peer>>>,
    /// The places without a connection.
    free: Vec<usize>,
    /// The number of connections so far, with those that are closed. It is the generation of the last one.
    generations: u64,
    operators: usize,
}

impl Peers {
    /// The number of connections of clients.
    pub fn clients(&self) -> usize {
        self.places.len() - self.free.len() - self.operators
    }

    /// The number of connections of operators.
    pub fn operators(&self) -> usize {
        self.operators
    }

    /// Takes a place for a new connection, which [`Self::add`] then adds. If it is not added, [`Self::give_back`]
    /// frees the place.
    pub fn take_place(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        })
    }

    pub fn give_back(&mut self, place: usize) {
        self.free.push(place);
    }

    /// Adds a connection at a place from [`Self::take_place`].
    pub fn add(&mut self, place: usize, stream: Stream, role: Role) -> (PeerId, &mut Peer) {
        self.operators += usize::from(matches!(role, Role::Operator { .. }));
        self.generations += 1;
        let generation = self.generations;
        let peer = Box::new(Peer::new(stream, role, generation));
        let id = PeerId { place, generation };
        (id, self.places[place].insert(peer))
    }

    /// Removes a connection, which closes its socket.
    pub fn remove(&mut self, id: PeerId) {
        let is_it = |peer: &mut Box<Peer>| peer.generation == id.generation;
        if let Some(peer) = self.places.get_mut(id.place)
            && let Some(peer) = peer.take_if(is_it)
        {
            self.operators -= usize::from(matches!(peer.role, Role::Operator { .. }));
            self.free.push(id.place);
        }
    }

    /// The connection `id`; `None` if it is closed.
    pub fn get(&mut self, id: PeerId) -> Option<&mut Peer> {
        let peer = self.places.get_mut(id.place)?.as_deref_mut()?;
        (peer.generation == id.generation).then_some(peer)
    }

    /// The connection at `place`.
    pub fn at(&mut self, place: usize) -> Option<(PeerId, &mut Peer)> {
        let peer = self.places.get_mut(place)?.as_deref_mut()?;
        let generation = peer.generation;
        Some((PeerId { place, generation }, peer))
    }

    pub fn iter(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        let places = self.places.iter().enumerate();
        places.filter_map(|(place, peer)| {
            let peer = peer.as_deref()?;
            let generation = peer.generation;
            Some((PeerId { place, generation }, peer))
        })
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (PeerId, &mut Peer)> {
        let places = self.places.iter_mut().enumerate();
        places.filter_map(|(place, peer)| {
            let peer = peer.as_deref_mut()?;
            let generation = peer.generation;
            Some((PeerId { place, generation }, peer))
        })
    }
}
