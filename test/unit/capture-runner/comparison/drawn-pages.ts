import { comparePictures } from '../../../../capture-runner/src/comparison/compare.ts'
import { decide, evaluate, type Noise, toTolerances } from '../../../../capture-runner/src/comparison/decide.ts'
import type { DecodedPicture } from '../../../../capture-runner/src/comparison/decoded-picture.ts'
import { inTurns } from '../../../../capture-runner/src/comparison/in-turns.ts'
import type { PictureBox } from '../../../../crds/src/kinds/comparison.ts'
import { type Color, Drawing, WHITE } from '../../../support/drawing.ts'

// Drawn pages, and their comparison as a runner does it.

interface Settings {
  /** The picture of the second load; absent: the page is loaded once. */
  again?: DecodedPicture
  noise?: Noise
  threshold?: number
  ignored?: PictureBox[]
  /** Whether words changed on which the loads agree; absent: not known. */
  textChanged?: boolean
}

/** Compares a picture with an earlier one as a runner does. */
export async function compare(
  before: DecodedPicture,
  after: DecodedPicture,
  { again, noise = 'none', threshold, ignored = [], textChanged }: Settings = {},
) {
  const settings = { ...toTolerances(0.1, noise), antialiasing: false, ignored }
  const signal = AbortSignal.timeout(60_000)
  const shown = again ?? after
  const changed = await comparePictures(before, shown, settings, signal)
  const between = again && (await comparePictures(after, again, settings, signal, changed))
  return decide(changed, await inTurns(evaluate(changed, between, { threshold, noise, textChanged }), signal), { threshold })
}

export const RED: Color = [200, 20, 20]
export const GREEN: Color = [20, 140, 60]
export const GRAY: Color = [118, 118, 118]

/** A page with a headline, text, a table and a picture. `k`: device pixels of a CSS pixel. */
export function page(width: number, height: number, k: number, background: Color = WHITE): Drawing {
  const key = `${width} ${height} ${k} ${background}`
  const drawing = pages.get(key) ?? drawPage(width, height, k, background)
  pages.set(key, drawing)
  return drawing.copy()
}

const pages = new Map<string, Drawing>()

function drawPage(width: number, height: number, k: number, background: Color): Drawing {
  const drawing = new Drawing(width, height, background)
  drawing.text('NEBULA STATION', 20 * k, 20 * k, 28 * k)
  for (const top of new Set([120, Math.floor(height / k / 2), Math.floor(height / k) - 200])) {
    for (let line = 0; line < 3; line++)
      drawing.text('ALL 1234 NOBLE SEATS SOLD TO 567 ADULTS', 20 * k, (top + line * 20) * k, 11 * k, GRAY)
  }
  return drawing
}

export const area = (x: number, y: number, width: number, height: number): PictureBox => ({ x, y, width, height })

/** Whether a region covers the changed area and little else. */
export function isAt(region: PictureBox, wanted: PictureBox): boolean {
  const margin = 2
  return (
    region.x >= wanted.x - margin &&
    region.y >= wanted.y - margin &&
    region.x + region.width <= wanted.x + wanted.width + margin &&
    region.y + region.height <= wanted.y + wanted.height + margin
  )
}
