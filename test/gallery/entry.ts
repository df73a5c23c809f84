import type { z } from 'zod'
import { CaptureOptions } from '../../crds/src/options/catalog.ts'
import { exampleOf } from '../../crds/src/options/examples.ts'
import { optionGroups } from '../../crds/src/options/groups.ts'
import { PrivateOptions } from '../../crds/src/options/private.ts'
import { type Scene, scenes, UNSEEN } from './scenes.ts'

// Derives the gallery's entries from the option catalog: each option's example on a page of the corpus, unless a scene defines a better one.

export type Values = Readonly<Record<string, unknown>>

/** The entry of one option. */
export interface Entry {
  /** In camel case. */
  name: string
  group: string
  description: string
  /** URL on the gallery's site. */
  path: string
  /** Options of the picture without the option. */
  before: Values
  /** Options of the picture with the option. */
  after: Values
}

/** An option without a visible effect. */
export interface Unseen {
  name: string
  group: string
  description: string
  why: string
}

/** Small, so that pages load quickly and two pictures fit next to each other. */
export const WINDOW = { viewportWidth: 1000, viewportHeight: 640 } as const
/** A chapter of the handbook in the corpus. */
const DEFAULT_SCENE: Scene = { path: '/book/en-US/apt.html' }

/** Capture options except those of the store. */
const drawn: ReadonlySet<string> = new Set(
  [...Object.keys(CaptureOptions.shape), ...Object.keys(PrivateOptions.shape)].filter((name) => !name.startsWith('storage')),
)

const described = optionGroups.flatMap(({ title, options }) =>
  Object.entries(options).map(([name, schema]) => ({ name, group: title, description: (schema as z.ZodType).description ?? '' })),
)

/** Every capture option. */
export const entries: readonly Entry[] = described
  .filter(({ name }) => drawn.has(name) && !(name in UNSEEN))
  .map(({ name, ...rest }) => ({ name, ...rest, ...toShots(name, scenes[name] ?? DEFAULT_SCENE) }))

/** Every other option. */
export const unseen: readonly Unseen[] = described
  .filter(({ name }) => !drawn.has(name) || name in UNSEEN)
  .map(({ name, ...rest }) => ({
    name,
    ...rest,
    why: UNSEEN[name] ?? 'It changes the source or the destination of the picture, not its content.',
  }))

function toShots(
  name: string,
  { path, among = {}, value = exampleOf(name), instead, isOfAnyWindow }: Scene,
): Pick<Entry, 'path' | 'before' | 'after'> {
  const basis = isOfAnyWindow ? among : { ...WINDOW, ...among }
  return { path, before: instead === undefined ? basis : { ...basis, [name]: instead }, after: { ...basis, [name]: value } }
}

/** Splits options into public and sealed ones, as in a capture request to a runner. */
export function splitPrivate(values: Values): { options: CaptureOptions; privateOptions: PrivateOptions } {
  const pick = (isPrivate: boolean) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => name in PrivateOptions.shape === isPrivate))
  return { options: pick(false), privateOptions: pick(true) }
}

/** Replaces `site:` in values by the site's origin. */
export function atOrigin<T>(values: T, origin: string): T {
  return JSON.parse(JSON.stringify(values).replaceAll('site:/', `${origin}/`)) as T
}
