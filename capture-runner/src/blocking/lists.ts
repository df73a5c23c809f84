import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { AutoConsentCMPRule, IndexedCMPRuleset } from '@duckduckgo/autoconsent'
import type { FiltersEngine } from '@ghostery/adblocker'
import type { EngineName } from '../plan/blocking.ts'

// The filter lists that the image carries, made by capture-runner/lists. Read when a capture first wants one, which takes a few milliseconds, and
// kept; a runner that never blocks never reads any.

/** What the lists were made of. */
export interface ListVersions {
  /** ISO 8601: how old the newest of the lists is. */
  updated: string
}

/** What is known about consent banners: autoconsent's program for the page, and its rules. */
export interface ConsentRules {
  script: string
  /** How to refuse, in the compact form. */
  rules: IndexedCMPRuleset
  /** The same and how to agree, three times as long; read when a capture first agrees. */
  wholeRules: () => Promise<AutoConsentCMPRule[]>
}

/** The lists of one runner. */
export interface FilterLists {
  engine: (name: EngineName) => Promise<FiltersEngine>
  consent: () => Promise<ConsentRules>
  versions: () => Promise<ListVersions>
}

/** Lists in a directory, read on demand. */
export function openLists(directory: string): FilterLists {
  const engines = new Map<EngineName, Promise<FiltersEngine>>()
  let consent: Promise<ConsentRules> | undefined
  let whole: Promise<AutoConsentCMPRule[]> | undefined
  const text = (name: string) => readFile(path.join(directory, name), 'utf8')
  return {
    engine: (name) => {
      const found = engines.get(name) ?? loadEngine(path.join(directory, `${name}.engine`))
      engines.set(name, found)
      return found
    },
    consent: () => {
      consent ??= Promise.all([text('consent.js'), text('consent-rules.json')]).then(([script, rules]) => ({
        script,
        rules: JSON.parse(rules) as IndexedCMPRuleset,
        wholeRules: () => {
          whole ??= text('consent-rules-whole.json').then((all) => (JSON.parse(all) as { autoconsent: AutoConsentCMPRule[] }).autoconsent)
          return whole
        },
      }))
      return consent
    },
    versions: async () => JSON.parse(await text('versions.json')) as ListVersions,
  }
}

/** The library is read with the first list: a runner that never blocks does without both. */
async function loadEngine(file: string): Promise<FiltersEngine> {
  const [library, data] = await Promise.all([import('@ghostery/adblocker'), readFile(file)])
  return library.FiltersEngine.deserialize(data)
}
