import { toSnakeCase } from '../text/snake-case.ts'
import { CaptureOptions } from './catalogue.ts'
import { cacheOptions } from './output/cache.ts'
import { deliveryOptions } from './output/delivery.ts'
import { privateOptionNames } from './private.ts'

// Options have two spellings: snake case in REST and its texts, camel case in Kubernetes. A text that kubectl shows uses the latter.

/** Names that differ in more than their case. */
const RENAMED: Readonly<Record<string, string>> = { download_url_ttl: 'downloadUrlTtlSeconds', final_url: 'finalUrl' }

const NAMES: ReadonlyMap<string, string> = new Map([
  ...[...Object.keys({ ...CaptureOptions.shape, ...cacheOptions, ...deliveryOptions }), ...privateOptionNames].map(
    (name): [string, string] => [toSnakeCase(name), name],
  ),
  ...Object.entries(RENAMED),
])

/** A text about options in Kubernetes' spelling. Names that are no options, such as values, stay as they are. */
export const toKubernetesText = (text: string): string =>
  text.replaceAll(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g, (name) => NAMES.get(name) ?? name)
