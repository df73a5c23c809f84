import { RECORD_OPTIONS } from '@tintype/crds/options/output/delivery'
import { isRefusedInLinks } from '@tintype/crds/options/rules/declare'
import { fieldsByName, isMoving } from '../form/fields.ts'

// The same capture as a command, as code, as a manifest and as the parameters of a link.

interface Body {
  url?: string
  options: Readonly<Record<string, unknown>>
}

/** Quotes a text for a POSIX shell. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const isOfVideo = ({ options }: Body): boolean => isMoving(String(options.format))

const formatOf = ({ options }: Body): string => String(options.format ?? 'png')

/** The name of a file. `.jpeg` is as good as `.jpg`. */
const fileOf = (body: Body): string => `page.${formatOf(body)}`

/** True if the response can be the file. A video rarely ends within the wait, and options can choose another response. */
const isFile = (body: Body): boolean => !isOfVideo(body) && body.options.async === undefined && body.options.response_type === undefined

/** A curl command that writes the file, or else the record. `base` is the URL of the gateway. */
export function toCurl(base: string, body: Body): string {
  const path = isOfVideo(body) ? 'videos?wait=25' : isFile(body) ? 'screenshots' : 'screenshots?wait=25'
  return [
    `curl -fsS ${quoteForShell(`${base}/api/v1/${path}`)}`,
    `  -H "Authorization: Bearer $TINTYPE_API_KEY" -H 'Content-Type: application/json'`,
    ...(isFile(body) ? [`  -H 'Accept: image/*' -o ${fileOf(body)} -w '%{http_code}\\n'`] : []),
    `  -d ${quoteForShell(JSON.stringify(body, null, 2))}`,
  ].join(' \\\n')
}

/** A value of a flag. The equals sign keeps values apart that begin with a dash, and `@` would read a file. */
const toFlags = ([name, value]: [string, unknown]): string[] => {
  const flag = `--${name.replaceAll('_', '-')}`
  if (typeof value === 'boolean') return [value ? flag : `--no-${flag.slice(2)}`]
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  const items = isMap ? Object.entries(value).map(([key, text]) => `${key}=${text}`) : Array.isArray(value) ? value : [value]
  return items.map((item) => `${flag}=${quoteForShell(typeof item === 'string' ? item : JSON.stringify(item))}`)
}

/** A command of the command line client. `left` are the options that it does not have. */
export function toCommand(base: string, body: Body): { text: string; left: readonly string[] } {
  const { url, options } = body
  const { response_type, ...known } = options
  const file = options.async === true ? [] : [`-o ${fileOf(body)}`]
  const target = [...(url === undefined ? [] : [quoteForShell(url)]), ...file].join(' ')
  const lines = [`tintype shot ${target}`, `--server=${quoteForShell(base)}`, ...Object.entries(known).flatMap(toFlags)]
  return { text: lines.join(' \\\n  '), left: response_type === undefined ? [] : ['response_type'] }
}

/** A JavaScript literal, with bare names where they are valid. */
const toLiteral = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')

/** A program with @tintype/client. */
export function toTypeScript(base: string, body: Body): string {
  const { url, options } = body
  const [result, method] = isOfVideo(body) ? ['video', 'record'] : ['screenshot', 'capture']
  return [
    "import { Tintype } from '@tintype/client'",
    '',
    `const tintype = new Tintype({ baseUrl: ${JSON.stringify(base)}, apiKey: process.env.TINTYPE_API_KEY })`,
    `const { bytes, ${result} } = await tintype.${method}(${toLiteral({ ...(url === undefined ? {} : { url }), ...options })})`,
  ].join('\n')
}

const SPEC_NAMES: Readonly<Record<string, string>> = RECORD_OPTIONS

const isSimpleName = (name: string): boolean => /^[A-Za-z][\w-]*$/.test(name)

/** YAML with quoted texts, which JSON's syntax for scalars and lists is. */
function toYaml(value: object, indent: string): string[] {
  return Object.entries(value).flatMap(([name, item]) => {
    const key = `${indent}${isSimpleName(name) ? name : JSON.stringify(name)}:`
    const isMap = typeof item === 'object' && item !== null && !Array.isArray(item)
    return isMap ? [key, ...toYaml(item, `${indent}  `)] : [`${key} ${JSON.stringify(item)}`]
  })
}

/** A Screenshot for kubectl. `left` are the options that a manifest cannot have. */
export function toManifest({ url, options }: Body, account: string): { text: string; left: readonly string[] } {
  const spec: Record<string, unknown> = { accountName: account, ...(url === undefined ? {} : { url }) }
  const capture: Record<string, unknown> = {}
  const left: string[] = []
  for (const [name, value] of Object.entries(options)) {
    const field = fieldsByName.get(name)
    const specName = SPEC_NAMES[name]
    if (specName !== undefined) spec[specName] = value
    else if (field?.place === 'capture') capture[field.option] = value
    else left.push(name)
  }
  if (Object.keys(capture).length > 0) spec.options = capture
  const text = [
    ...['apiVersion: tintype.dev/v1alpha1', 'kind: Screenshot', 'metadata:', '  generateName: console-', 'spec:'],
    ...toYaml(spec, '  '),
  ].join('\n')
  return { text, left }
}

const isInLinks = ([name, value]: [string, unknown]): boolean => !isRefusedInLinks(fieldsByName.get(name)?.links ?? 'no', value)

/** The parameters of a signed link. `left` are the options that no link can have. */
export function toLinkParameters(options: Readonly<Record<string, unknown>>): { params: Record<string, unknown>; left: readonly string[] } {
  const entries = Object.entries(options)
  return {
    params: Object.fromEntries(entries.filter(isInLinks)),
    left: entries.filter((entry) => !isInLinks(entry)).map(([name]) => name),
  }
}
