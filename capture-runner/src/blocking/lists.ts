import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { AutoConsentCMPRule, IndexedCMPRuleset } from '@duckduckgo/autoconsent'
import type { FiltersEngine } from '@ghostery/adblocker'
import type { EngineName } from '../plan/blocking.ts'

// The filter lists in the image, built by capture-runner/lists. A list is read when a capture first needs it, which takes a few milliseconds, and kept.
// A runner that never blocks reads none.

/** Versions of the lists. */
export interface ListVersions {
  /** Date of the newest list, ISO 8601. */
  updated: string
}

/** Data for consent banners: autoconsent's script for the page, and its rules. */
export interface ConsentRules {
  script: string
  /** Rules to reject, in the compact form. */
  rules: IndexedCMPRuleset
  /** Rules to reject and to accept, three times as long. Read when a capture first accepts. */
  wholeRules: () => Promise<AutoConsentCMPRule[]>
}

/** The lists of one runner. */
export interface FilterLists {
  engine: (name: EngineName) => Promise<FiltersEngine>
  consent: () => Promise<ConsentRules>
  versions: () => Promise<ListVersions>
}

/** Opens the lists in a directory, which are read on demand. */
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

/** Loads the library together with the first list, so that a runner that never blocks loads neither. */
async function loadEngine(file: string): Promise<FiltersEngine> {
  const [library, data] = await Promise.all([import('@ghostery/adblocker'), readFile(file)])
  return library.FiltersEngine.deserialize(data)
}
