/** A place on the stage as fractions of its width and height, from its middle. */
export interface Point {
  x: number
  y: number
}

/** How near a picture may come. */
const nearest = 8

/** How a picture is seen on its stage: how large, and how far its middle is from the stage's. It never leaves the stage. */
export class Zoom {
  constructor(
    readonly scale = 1,
    readonly x = 0,
    readonly y = 0,
  ) {}

  get atEnd(): boolean {
    return this.scale >= nearest
  }

  moved(dx: number, dy: number): Zoom {
    return this.#within(this.scale, this.x + dx, this.y + dy)
  }

  /** Comes nearer by a factor, and keeps what is at that place where it is. */
  scaled(by: number, around: Point = { x: 0, y: 0 }): Zoom {
    const scale = Math.min(Math.max(this.scale * by, 1), nearest)
    const real = scale / this.scale
    return this.#within(scale, around.x - (around.x - this.x) * real, around.y - (around.y - this.y) * real)
  }

  #within(scale: number, x: number, y: number): Zoom {
    const most = (scale - 1) / 2
    const clamp = (value: number) => Math.min(Math.max(value, -most), most) || 0
    return new Zoom(scale, clamp(x), clamp(y))
  }
}
