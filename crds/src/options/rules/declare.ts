import { z } from 'zod'

// Whether links may have an option, and whether it changes the picture. The gateway reads these rules for links and for the cache, and docs/options.md
// shows them.

/** Whether signed links may have an option. Everyone who sees a page can read its links. */
export type LinkRule =
  | 'yes'
  /** It is secret, runs code, calls another server, or is about the response to a request. */
  | 'no'
  /** It shows text, frames or pictures of the link's own. A link policy that limits hosts must allow it separately. */
  | 'own_markup'
  /** Links may have every other value. */
  | { except: boolean }

/** Whether an option changes the picture. The cache hash contains every option that does not say no. */
export type PictureRule =
  | 'yes'
  | 'no'
  /** It changes whether there is a picture, its record, or the files beside it, so the cache keeps a picture for each value. */
  | 'separate'
  /** It changes the picture only if `holds` is true for the options of the request, with defaults. `when` says the same for the docs. */
  | { when: string; holds(options: Readonly<Record<string, unknown>>): boolean }

export interface OptionRules {
  links: LinkRule
  picture: PictureRule
}

/** True if no link may have an option with this value. */
export const isRefusedInLinks = (rule: LinkRule, value: unknown): boolean =>
  rule === 'no' || (typeof rule === 'object' && rule.except === value)

// Declares the options: type and range, then facts, then what the option does. Descriptions get their ranges and defaults from here.

/** What an option declares beside its type. Without `links` or `picture`, those of its group apply. */
export interface Facts<Value = unknown> extends Partial<OptionRules> {
  default?: Value
  /** The default as the description has it, if it is not one value: `the device’s, else false`. */
  absent?: string
  /** A value for the documentation and the tests. Numbers, booleans and choices do not need one. */
  example?: Value
  /** It has CSS selectors, which the browser parses before the page opens. */
  isSelector?: true
  /** The switch of the cluster administrator that can disable it. */
  policy?: 'proxy' | 'ignoreHttpsErrors' | 'bypassCsp' | 'scripts' | 'storage'
  /** It came after the first cached pictures. At its default it is not part of the cache hash, so that these are still found. */
  isLater?: true
  /** It may be too long for a Kubernetes object. If the options of an object exceed 8 KiB, these move to the bucket. */
  isLarge?: true
}

/** The schema of an option with its facts. `Own` are those of its declaration. */
export type Option<Value = unknown, Own extends Facts = Facts> = z.ZodType<Value> & {
  /** `absent` is the default as the description has it. */
  readonly facts: Own & OptionRules & { readonly absent: string }
}

/** A section of docs/options.md. */
export interface OptionGroup<Options extends Readonly<Record<string, Option>> = Readonly<Record<string, Option>>> {
  readonly title: string
  /** Text that applies to all options of the group. */
  readonly note?: string
  /** By names in camel case. */
  readonly options: Options
}

/** Declares options with the rules that most of them have. They do not compile without rules. */
export function group<Options extends Readonly<Record<string, Option>>>(
  heading: string | readonly [title: string, note: string],
  rules: OptionRules & Pick<Facts, 'policy'>,
  options: Options,
): OptionGroup<Options> {
  for (const { facts } of Object.values(options)) Object.assign(facts, { ...rules, ...facts })
  const [title = '', note] = [heading].flat()
  return { title, options, ...(note !== undefined && { note }) }
}

/**
 * Declares an option of any type. The result takes what the option does, in sentences. The range follows the first clause, unless the sentences have it.
 */
export const declare =
  <Value, Own extends Facts<Value>>(schema: z.ZodType<Value>, own = {} as Own, range = '') =>
  (text: string): Option<Value, Own> => {
    const { absent = [own.default ?? 'none'].flat().join(', ') } = own
    const sentences = text.includes(range) ? text : text.replace(/(?=[.;])/, `, ${range}`)
    return Object.assign(schema.describe(`${sentences} Default: ${absent}.`), { facts: { ...own, absent } as Option<Value, Own>['facts'] })
  }

/** The rules of most options: links may have them, and they change the picture. */
export const PICTURE: OptionRules = { links: 'yes', picture: 'yes' }
/** The rules of options that links must not have, and that do not change the picture. */
export const NOT_IN_LINKS: OptionRules = { links: 'no', picture: 'separate' }
/** The rules of options that change the record or other files: links may have them. */
export const SEPARATE: OptionRules = { links: 'yes', picture: 'separate' }

export const flag = <Own extends Facts<boolean>>(own: Own) => declare(z.boolean(), own)
/** A boolean that is false by default. */
export const off = flag({ default: false })
/** A boolean that is true by default. */
export const on = flag({ default: true })

export const integer = <Own extends Facts<number>>(least: number, most: number, own?: Own) =>
  declare(z.int().min(least).max(most), own, `${least} to ${most}`)
export const number = <Own extends Facts<number>>(least: number, most: number, own?: Own) =>
  declare(z.number().min(least).max(most), own, `${least} to ${most}`)
export const choice = <const Value extends string, Own extends Facts<Value>>(values: readonly Value[], own?: Own) =>
  declare(z.enum(values) as unknown as z.ZodType<Value>, own)
export const text = <Own extends Facts<string>>(most: number, own?: Own) => declare(z.string().max(most), own, `at most ${most} characters`)
/** A text that is not empty. */
export const filled = <Own extends Facts<string>>(most: number, own?: Own) =>
  declare(z.string().min(1).max(most), own, `at most ${most} characters`)
/** A text of a form. Error messages say which. */
export const formed = <Own extends Facts<string> & { form?: Parameters<z.ZodString['regex']>[1] }>(
  most: number,
  pattern: RegExp,
  own: Own,
) => declare(z.string().max(most).regex(pattern, own.form), own)
export const list = <Value, Own extends Facts<Value[]>>(item: z.ZodType<Value>, most: number, own?: Own) =>
  declare(z.array(item).max(most), own, `at most ${most}`)

/** The defaults of options, by name. */
export const defaultsOf = <Options extends Readonly<Record<string, Option>>>(options: Options) =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, { facts }]) => (facts.default === undefined ? [] : [[name, facts.default]])),
  ) as {
    [Name in keyof Options as Options[Name]['facts'] extends { default: unknown } ? Name : never]: NonNullable<z.infer<Options[Name]>>
  }
