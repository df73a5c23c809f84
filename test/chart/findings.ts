/** Findings of kube-score and checkov in manifests, in one format, and the reasons for accepted ones (reasons.yaml). */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

/** One finding, such as `kube-score container-resources api-gateway Deployment`. */
export interface Finding {
  checker: 'kube-score' | 'checkov'
  /** The checker's own name of the rule. */
  rule: string
  kind: string
  /** Name of the object. */
  name: string
  text: string
}

/** Accepted findings of a rule, for all objects or only the named ones. A trailing `*` matches a prefix. */
const Reason = z.strictObject({
  checker: z.enum(['kube-score', 'checkov']),
  rules: z.array(z.string().min(1)).min(1),
  objects: z.array(z.string().min(1)).optional(),
  reason: z.string().min(40),
})
export type Reason = z.infer<typeof Reason>

/** Reads reasons.yaml. @throws z.ZodError */
export async function readReasons(): Promise<Reason[]> {
  return z.array(Reason).parse(parse(await readFile(path.join(import.meta.dirname, 'reasons.yaml'), 'utf8')))
}

/** The reason why a finding is accepted. */
export const findReason = (finding: Finding, reasons: readonly Reason[]): Reason | undefined =>
  reasons.find(({ checker, rules, objects }) => {
    const isObject = objects?.some((object) => matches(object, `${finding.kind}/${finding.name}`)) ?? true
    return checker === finding.checker && rules.includes(finding.rule) && isObject
  })

const matches = (pattern: string, text: string): boolean =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern

const KubeScore = z.array(
  z.object({
    type_meta: z.object({ kind: z.string() }),
    object_meta: z.object({ name: z.string() }),
    checks: z.array(
      z.object({
        check: z.object({ id: z.string() }),
        grade: z.number(),
        skipped: z.boolean(),
        comments: z.array(z.object({ path: z.string(), summary: z.string() })).nullable(),
      }),
    ),
  }),
)
/** kube-score's grade for a check without findings. */
const GRADE_OK = 10

/** Runs kube-score with its default checks. */
export async function runKubeScore(program: string, file: string): Promise<Finding[]> {
  const scored = KubeScore.parse(JSON.parse(await outputOf(program, ['score', '--output-format', 'json', file])))
  return scored.flatMap(({ type_meta, object_meta, checks }) =>
    checks
      .filter(({ grade, skipped }) => grade < GRADE_OK && !skipped)
      .flatMap(({ check, comments }) =>
        (comments ?? [{ path: '', summary: check.id }]).map(({ path: place, summary }) => ({
          checker: 'kube-score' as const,
          rule: check.id,
          kind: type_meta.kind,
          name: object_meta.name,
          text: `${place} ${summary}`.trim(),
        })),
      ),
  )
}

const Checkov = z.object({
  summary: z.object({ passed: z.number(), parsing_errors: z.literal(0) }),
  results: z.object({ failed_checks: z.array(z.object({ check_id: z.string(), check_name: z.string(), resource: z.string() })) }),
})

/** Runs checkov's rules for Kubernetes. */
export async function runCheckov(program: string, file: string): Promise<Finding[]> {
  const args = ['--file', file, '--framework', 'kubernetes', '--compact', '--quiet', '--output', 'json', '--skip-download']
  const { results } = Checkov.parse(JSON.parse(await outputOf(program, args)))
  return results.failed_checks.map(({ check_id, check_name, resource }) => {
    // Kind.namespace.name; the pods of a workload have their labels appended.
    const [kind = '', , name = ''] = resource.split('.')
    return { checker: 'checkov' as const, rule: check_id, kind, name, text: check_name }
  })
}

/** Both exit with 1 when they find something. Their output lists the findings. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  const complaints: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
  child.on('error', reject)
  child.on('close', (code) => {
    if (code === 0 || code === 1) resolve(Buffer.concat(output).toString())
    else reject(new Error(`${program} ended with code ${code}: ${Buffer.concat(complaints)}`))
  })
  return promise
}
