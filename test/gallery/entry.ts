import type { z } from 'zod'
import { CaptureOptions } from '../../crds/src/options/catalogue.ts'
import { exampleOf } from '../../crds/src/options/examples.ts'
import { optionGroups } from '../../crds/src/options/groups.ts'
import { PrivateOptions } from '../../crds/src/options/private.ts'
import { type Scene, scenes, UNSEEN } from './scenes.ts'

// What the gallery shows of each option, worked out from the catalogue: the option's own example on a page of the corpus, unless a scene says better.

export type Values = Readonly<Record<string, unknown>>

/** One option as it is shown. */
export interface Entry {
  /** In camel case. */
  name: string
  group: string
  description: string
  /** Address on the gallery's site. */
  path: string
  /** Options of the picture without it. */
  before: Values
  /** Options of the picture with it. */
  after: Values
}

/** An option of which no picture shows anything. */
export interface Unseen {
  name: string
  group: string
  description: string
  why: string
}

/** Small, so that pages load quickly and two pictures stand side by side. */
export const WINDOW = { viewportWidth: 1000, viewportHeight: 640 } as const
/** A chapter of the book, as the corpus has it. */
const DEFAULT_SCENE: Scene = { path: '/book/en-US/apt.html' }

/** Options that are a capture's own, and not the store's that its file goes to. */
const drawn: ReadonlySet<string> = new Set(
  [...Object.keys(CaptureOptions.shape), ...Object.keys(PrivateOptions.shape)].filter((name) => !name.startsWith('storage')),
)

const described = optionGroups.flatMap(({ title, options }) =>
  Object.entries(options).map(([name, schema]) => ({ name, group: title, description: (schema as z.ZodType).description ?? '' })),
)

/** Every option that a capture is made with. */
export const entries: readonly Entry[] = described
  .filter(({ name }) => drawn.has(name) && !(name in UNSEEN))
  .map(({ name, ...rest }) => ({ name, ...rest, ...toShots(name, scenes[name] ?? DEFAULT_SCENE) }))

/** Every other option. */
export const unseen: readonly Unseen[] = described
  .filter(({ name }) => !drawn.has(name) || name in UNSEEN)
  .map(({ name, ...rest }) => ({
    name,
    ...rest,
    why: UNSEEN[name] ?? 'It changes where the picture goes or where it comes from, not what is on it.',
  }))

function toShots(
  name: string,
  { path, among = {}, value = exampleOf(name), instead, isOfAnyWindow }: Scene,
): Pick<Entry, 'path' | 'before' | 'after'> {
  const basis = isOfAnyWindow ? among : { ...WINDOW, ...among }
  return { path, before: instead === undefined ? basis : { ...basis, [name]: instead }, after: { ...basis, [name]: value } }
}

/** Splits what is asked for into what an order shows and what it seals. */
export function splitPrivate(values: Values): { options: CaptureOptions; privateOptions: PrivateOptions } {
  const pick = (isPrivate: boolean) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => name in PrivateOptions.shape === isPrivate))
  return { options: pick(false), privateOptions: pick(true) }
}

/** Puts the site's origin where a value says `site:`. */
export function atOrigin<T>(values: T, origin: string): T {
  return JSON.parse(JSON.stringify(values).replaceAll('site:/', `${origin}/`)) as T
}
