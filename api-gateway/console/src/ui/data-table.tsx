import type { ComponentChildren } from 'preact'
import { Panel } from './panel.tsx'

interface DataTableProps {
  title: string
  head: readonly string[]
  rows: readonly (readonly ComponentChildren[])[]
  /** Text for no rows. */
  empty: string
}

/** A table that scrolls if it is wider than its part of the page. On phones, each row is a block, and `data-label` of a cell names it. */
export const ScrollTable = ({ head, children }: { head: readonly ComponentChildren[]; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the table scrolls, so the keyboard must be able to reach it
  <div class="scroll" tabIndex={0}>
    <table>
      <thead>
        <tr>
          {head.map((name, column) => (
            <th key={column} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)

/** A panel with a table of plain cells. */
export const DataTable = ({ title, head, rows, empty }: DataTableProps) => (
  <Panel title={title}>
    {rows.length === 0 ? (
      <p class="soft">{empty}</p>
    ) : (
      <ScrollTable head={head}>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, column) => (
              <td key={head[column]} data-label={head[column]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </ScrollTable>
    )}
  </Panel>
)
