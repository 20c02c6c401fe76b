//! Tests that compare the lists with plain queues, which serve as a model.

use alloc::collections::VecDeque;
use alloc::vec;

use super::*;
use crate::Random;

/// An item with a value stored with its links.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Tagged(u32, u64);

impl Item for Tagged {
    type Key = u32;
    type Value = u64;
    fn number(key: u32) -> u32 {
        key
    }
    fn split(self) -> (u32, u64) {
        (self.0, self.1)
    }
    fn join(number: u32, value: u64) -> Self {
        Self(number, value)
    }
}

fn check<I: Item + PartialEq + core::fmt::Debug>(lists: &Lists<I>, model: &[VecDeque<I>]) {
    assert_eq!(lists.len(), model.iter().map(VecDeque::len).sum::<usize>());
    for (list, queue) in (0..).zip(model) {
        assert!(lists.iter(list).eq(queue.iter().copied()));
        assert!(lists.iter_back(list).eq(queue.iter().rev().copied()));
        assert_eq!(lists.is_list_empty(list), queue.is_empty());
        assert_eq!(lists.front(list), queue.front().copied());
        assert_eq!(lists.back(list), queue.back().copied());
    }
}

#[test]
fn lists_agree_with_plain_queues() {
    let mut random = Random::new(5);
    let mut lists = Lists::new(3, 4);
    let mut model = vec![VecDeque::new(); 3];
    for step in 0..100_000 {
        let list = random.below(3) as usize;
        let item = Tagged(random.below(12) as u32, step);
        let Tagged(key, _) = item;
        let place = |queue: &VecDeque<Tagged>| queue.iter().position(|held| held.0 == key);
        let home = model.iter().position(|queue| place(queue).is_some());
        assert_eq!(lists.contains(key), home.is_some());
        match (random.below(8), home) {
            (0, None) => {
                lists.push_front(list as u32, item);
                model[list].push_front(item);
            }
            (1, None) => {
                lists.push_back(list as u32, item);
                model[list].push_back(item);
            }
            (choice @ 0..=2, Some(home)) => {
                let place = place(&model[home]).unwrap();
                let next = model[home].get(place + 1).copied();
                assert_eq!(lists.behind(key), next);
                let held = model[home].remove(place).unwrap();
                match choice {
                    0 => {
                        lists.move_to_front(list as u32, key);
                        model[list].push_front(held);
                    }
                    1 => {
                        lists.move_to_back(list as u32, key);
                        model[list].push_back(held);
                    }
                    _ => assert_eq!(lists.remove(key), held),
                }
            }
            (3, _) => assert_eq!(lists.pop_front(list as u32), model[list].pop_front()),
            (4, _) => assert_eq!(lists.pop_back(list as u32), model[list].pop_back()),
            (choice @ 5..=6, None) if !model[list].is_empty() => {
                let place = random.below(model[list].len() as u64) as usize;
                let there = model[list][place].0;
                if choice == 5 {
                    lists.replace(there, item);
                    model[list][place] = item;
                } else {
                    lists.insert_before(there, item);
                    model[list].insert(place, item);
                }
            }
            _ => {}
        }
        check(&lists, &model);
    }
}

#[test]
fn items_are_brought_from_wherever_they_are() {
    let mut random = Random::new(7);
    let mut lists: Lists<u32> = Lists::new(3, 0);
    let mut model = vec![VecDeque::new(); 3];
    for _ in 0..20_000 {
        let list = random.below(3) as usize;
        let item = random.below(12) as u32;
        let to_front = random.below(2) == 0;
        for queue in &mut model {
            queue.retain(|held| *held != item);
        }
        if to_front {
            lists.bring_to_front(list as u32, item);
            model[list].push_front(item);
        } else {
            lists.bring_to_back(list as u32, item);
            model[list].push_back(item);
        }
        if random.below(4) == 0 {
            assert_eq!(lists.pop_back(list as u32), model[list].pop_back());
        }
        check(&lists, &model);
    }
}

#[test]
fn a_ring_is_taken_apart_from_any_of_its_nodes() {
    let mut links = Links::default();
    links.begin(4, 'a');
    links.insert_before(4, 9, 'b');
    links.insert_after(4, 2, 'c');
    links.begin(7, 'd');
    assert!(links.ring(9).eq([(9, 'b'), (4, 'a'), (2, 'c')]));
    assert_eq!(
        (links.get(9), links.get(3), links.get(99)),
        (Some('b'), None, None)
    );
    let mut taken = Vec::new();
    links.take_ring(2, 3, |node, value| taken.push((node, value)));
    assert_eq!(taken, [(2, 'c'), (9, 'b'), (4, 'a')]);
    assert!(!links.is_linked(9) && links.is_linked(7));
    assert_eq!(links.remove(7), 'd');
}

#[test]
fn memory_follows_use_and_not_the_expectation() {
    let list: Lists<u32> = Lists::new(1, u32::MAX);
    assert!(list.links.nodes.capacity() <= 2 << 20);
}
