// Values as Rust has them: enums with members, strings, vectors, slices, boxes.
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Debug)]
enum Shape {
    Circle(f64),
    Square { side: i32 },
    Empty,
}
struct Point {
    x: i32,
    y: i32,
}
struct Deep<'a> {
    name: &'a str,
    points: Vec<Point>,
    shape: Shape,
    pair: (i32, u8),
    maybe: Option<i32>,
    boxed: Box<Point>,
    cells: [i32; 4],
}

fn main() {
    let deep = Deep {
        name: "hello",
        points: vec![Point { x: 3, y: 4 }, Point { x: 5, y: 6 }],
        shape: Shape::Square { side: 7 },
        pair: (1, 2),
        maybe: Some(4),
        boxed: Box::new(Point { x: 8, y: 9 }),
        cells: [1, 2, 3, 4],
    };
    let circle = Shape::Circle(1.5);
    let empty = Shape::Empty;
    let borrowed = &deep;
    let slice = &deep.cells[1..3];
    let mut ages = HashMap::new();
    ages.insert("ann", 30);
    let text = String::from("h\u{e9}llo");
    let shared = Rc::new(Point { x: 1, y: 2 });
    let other = Rc::clone(&shared);
    let drawn: Box<dyn Fn(i32) -> i32> = Box::new(move |n| n + shared.x);
    let mut total = 0;
    for point in deep.points.iter() {
        total += point.x + point.y; // stop here
    }
    println!("{} {:?} {:?} {:?} {}", total, circle, empty, deep.shape, borrowed.name);
    println!("{} {:?} {} {}", slice.len(), deep.maybe, deep.pair.0, deep.boxed.x + deep.boxed.y);
    println!("{} {} {} {} {}", deep.pair.1, ages["ann"], text, drawn(2), other.y);
}
