import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Creates metrics in a registry. Each has a name, a help text, and the names of its labels. */
export function instrumentsOf(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string = never>(name: string, help: string, buckets: number[], labelNames: readonly Label[] = []) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    gauge: <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    /** A gauge whose values are computed at each scrape. */
    computed: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[],
      compute: (gauge: Gauge<Label>) => void,
    ) =>
      new Gauge({
        ...{ name, help, labelNames, registers },
        collect() {
          compute(this)
        },
      }),
  }
}
