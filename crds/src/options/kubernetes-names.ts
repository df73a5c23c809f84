import { toSnakeCase } from '../text/words.ts'
import { optionsByName } from './groups.ts'

// Options have two spellings: snake case in the REST API, camel case in Kubernetes. Texts that kubectl shows use camel case.

/** Names that differ in more than case. */
const RENAMED: Readonly<Record<string, string>> = { download_url_ttl: 'downloadUrlTtlSeconds', final_url: 'finalUrl' }

const NAMES: ReadonlyMap<string, string> = new Map([
  ...[...optionsByName.keys()].map((name): [string, string] => [toSnakeCase(name), name]),
  ...Object.entries(RENAMED),
])

/** Converts the option names in a text to camel case. Other words in snake case, such as values, are unchanged. */
export const toKubernetesText = (text: string): string =>
  text.replaceAll(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g, (name) => NAMES.get(name) ?? name)
