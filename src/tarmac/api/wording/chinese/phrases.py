"""Sentences that other rooms and processes form in English, such as readers of options, by their English pattern.

`{}` stands for a value, and `{text}` for one that is itself such a sentence. The Chinese one counts them from 0.
"""

from __future__ import annotations

PHRASES: dict[str, str] = {
    # typed/values.py
    "it is too large": "太大",
    "it is too long": "太长",
    "it is too far away": "太远",
    "it must be a whole number": "应为整数",
    "it must be 0 or more": "应不小于 0",
    "it must be 1 or more": "应不小于 1",
    "it must be more than 0": "应大于 0",
    "it must be from 0 to {}": "应在 0 到 {0} 之间",
    "it must be from 0 to 19": "应在 0 到 19 之间",
    "it must be a size, such as 8G or 512M, or auto": "应为大小，例如 8G 或 512M，或 auto",
    "it must be a part of one GPU, from 0 to 1; did you mean {}%?": "应为一张 GPU 的比例，从 0 到 1；是否想写 {0}%？",
    "it must be a part of one GPU, such as 0.5 or 50%": "应为一张 GPU 的比例，例如 0.5 或 50%",
    "it must be from 1% to 100%; did you mean {}?": "应在 1% 到 100% 之间；是否想写 {0}？",
    "it must be a whole percentage from 1% to 100%, such as 20%": "应为 1% 到 100% 的整数百分比，例如 20%",
    "it must be one or more names of nodes, such as gpu01,gpu02": "应为一个或多个节点名，例如 gpu01,gpu02",
    "it must be one or more model names, such as a100 or 'a100|h100'": ("应为一个或多个型号，例如 a100 或 'a100|h100'"),
    "it has {} characters; choose a shorter text, of at most {}": "有 {0} 个字符；请缩短到 {1} 个以内",
    "it is empty; write a word, such as baseline": "为空；请写一个词，例如 baseline",
    "it has a comma; give each tag on its own": "含有逗号；请分别给出每个标签",
    "it has a line break or another control character; write plain text": "含有换行或其他控制字符；请写纯文本",
    "it must be the name of a target, such as mail": "应为目标的名称，例如 mail",
    "none cannot be combined with targets": "none 不能与其他目标同时使用",
    "it must be a job, such as 7, 7:any or last": "应为任务，例如 7、7:any 或 last",
    "it must be a name, not a number, `last` or `all`": "应为名称，不能是数字、`last` 或 `all`",
    "after %, write how many jobs may run at once: 0-99%8": "% 之后请写同时运行的任务数：0-99%8",
    "it must be a signal, such as USR1, INT or 10, or a warning, such as USR1@120": (
        "应为信号，例如 USR1、INT 或 10，或警告，例如 USR1@120"
    ),
    "no process can catch that signal; to kill the job at once, use --grace 0": (
        "没有进程能捕获该信号；要立即终止任务，请用 --grace 0"
    ),
    "it must be NAME=VALUE": "应为 NAME=VALUE",
    "{} is not the name of a variable; use letters, digits and underscores": (
        "{0} 不是变量名；请使用字母、数字和下划线"
    ),
    "it is not UTF-8 and cannot be passed on": "不是 UTF-8，无法传递",
    "it is not UTF-8": "不是 UTF-8",
    "it must not be empty": "不能为空",
    "{} has an empty name": "{0} 的名称为空",
    "it must be GPU indices, such as 0,2 or 0-3": "应为 GPU 编号，例如 0,2 或 0-3",
    "the range {} ends before it begins": "范围 {0} 的终点小于起点",
    "GPU {} does not exist": "没有 GPU {0}",
    "write ok, fail or any after the colon, not {}": "冒号之后应写 ok、fail 或 any，而不是 {0}",
    "{} is not a job id; it must be 7, 7:any, 3-5 or last": "{0} 不是任务 ID；应为 7、7:any、3-5 或 last",
    "it must be from 1 to {} jobs; write {}-{} for one index": ("应为 1 到 {0} 个任务；只要一个序号请写 {1}-{2}"),
    # shared/
    "it must be a duration, such as {}": "应为时长，例如 {0}",
    "which unit? {}G or {}M": "单位是什么？{0}G 还是 {1}M",
    "it must be a size, such as {}": "应为大小，例如 {0}",
    "which unit? {}m is minutes, {}h hours, {}s seconds": "单位是什么？{0}m 是分钟，{1}h 是小时，{2}s 是秒",
    "it must be a time in the future, such as {}": "应为将来的时间，例如 {0}",
    "that was {} ago ({})": "那是 {0} 之前（{1}）",
    "it must be a time in the past, such as {}": "应为过去的时间，例如 {0}",
    "that is in the future ({})": "那是将来（{0}）",
    "{} at what time? '{} 9:00'": "{0} 的几点？例如 '{1} 9:00'",
    "it has {} indices; the limit is {}": "有 {0} 个序号，上限是 {1} 个",
    "it must be indices, such as 0-99, 1-10:2 or 1,3,5": "应为序号，例如 0-99、1-10:2 或 1,3,5",
    "an index must be at most {}": "序号不能大于 {0}",
    "the range {} ends before it begins; write {}-{}": "范围 {0} 的终点小于起点；请写 {1}-{2}",
    "the step of {} must be 1 or more": "{0} 的步长应不小于 1",
    "index {} is given twice": "序号 {0} 出现了两次",
    "it must be [B:]SIGNAL@TIME, such as USR1@120 or B:USR1@2m": ("应为 [B:]SIGNAL@TIME，例如 USR1@120 或 B:USR1@2m"),
    "before the @ it must have a signal, such as USR1, INT or 10": "@ 之前应为信号，例如 USR1、INT 或 10",
    "no process can catch that signal; choose another, such as USR1": "没有进程能捕获该信号；请换一个，例如 USR1",
    "after the @ it must have a time of more than 0": "@ 之后的时间应大于 0",
    "after the @ it must have a time, such as 120, 90s or 2m": "@ 之后应为时间，例如 120、90s 或 2m",
    # typed/requests.py, changes.py, output_paths.py, file_values.py, words.py
    "{}: --command and --shell exclude each other": "{0}：--command 和 --shell 不能同时使用",
    "give one of them": "请只给出其中一个",
    "leave out one of them": "去掉其中一个",
    "{}: the shell string is empty": "{0}：shell 命令为空",
    "{}: the command is empty": "{0}：命令为空",
    "give one: `tarmac {} 7 -c 'make && ./train'`": "请给出命令：`tarmac {0} 7 -c 'make && ./train'`",
    "give one: `tarmac {} -c 'make && ./train'`": "请给出命令：`tarmac {0} -c 'make && ./train'`",
    "give the command to run: `tarmac {} python train.py`": "请给出要运行的命令：`tarmac {0} python train.py`",
    "{} must be {}": "{0} 应为 {1}",
    "{} must be {}, not a list": "{0} 应为 {1}，不能是列表",
    "{} {}: it must be true or false{}": "{0} {1}：应为 true 或 false",
    "{} {}: {text}": "{0} {1}：{2}",
    "{}: {{{}}} is not a placeholder": "{0}：{{{1}}} 不是占位符",
    "{} {{{{{}}}}} for braces": "可用的占位符见文档；花括号请写两遍：{{{{{1}}}}}",
    "{}: --snapshot and --no-snapshot exclude each other": "{0}：--snapshot 和 --no-snapshot 不能同时使用",
    "{}: --link needs a snapshot, but --no-snapshot is given": "{0}：--link 需要快照，却给出了 --no-snapshot",
    "{}: none cannot be combined with other values": "{0}：none 不能与其他值同时使用",
    "{}: --signal is given {} times": "{0}：--signal 给出了 {1} 次",
    "give at most one signal that stops the job (USR1) and one that warns it (USR1@120)": (
        "最多给出一个停止任务的信号（USR1）和一个警告信号（USR1@120）"
    ),
    "{}: got a shell string and a command ({} …)": "{0}：同时给出了 shell 命令和普通命令（{1} …）",
    "quote the whole string after -c": "请把 -c 之后的整段命令放在引号中",
    "{}: {} needs a GPU, but -g 0 requests none": "{0}：{1} 需要 GPU，而 -g 0 表示不用 GPU",
    "leave out {} or -g 0": "去掉 {0} 或 -g 0",
    "{}: --gpu-mem and --gpu-share both set how much of a GPU is reserved": (
        "{0}：--gpu-mem 和 --gpu-share 都用来指定申请 GPU 的多少"
    ),
    "use --gpu-mem if you know how much memory the job needs, otherwise --gpu-share": (
        "知道任务需要多少显存时用 --gpu-mem，否则用 --gpu-share"
    ),
    "{}: -g {} does not match --gpus-on {}, which names {}": "{0}：-g {1} 与 --gpus-on {2} 不符，后者指定了 {3} 张",
    "leave out -g; or exclude GPUs with --exclude-gpus, to get any {} of the others": (
        "去掉 -g；或用 --exclude-gpus 排除一些 GPU，从其余的中任取 {0} 张"
    ),
    "{}: GPU {} is in both --gpus-on and --exclude-gpus": "{0}：GPU {1} 同时出现在 --gpus-on 和 --exclude-gpus 中",
    "remove it from one of them": "请从其中一个里去掉它",
    "{}: --hold and --draft exclude each other": "{0}：--hold 和 --draft 不能同时使用",
    "use --hold for a job that is ready, --draft for one that you still work on": (
        "已经准备好的任务用 --hold，还在修改的任务用 --draft"
    ),
    "--after {} is not a range of jobs": "--after {0} 不是任务的范围",
    "write the smaller id first, such as 3-7": "请把较小的 ID 写在前面，例如 3-7",
    "--after {}: a job can wait for at most {} others": "--after {0}：一个任务最多等待 {1} 个其他任务",
    "name the last of them": "请只写其中最后一个",
    "{}: --max-running needs --array": "{0}：--max-running 需要 --array",
    "give the indices: --array 0-99": "请给出序号：--array 0-99",
    "{}: --array says %{}, --max-running says {}": "{0}：--array 写的是 %{1}，--max-running 写的是 {2}",
    'the quote " is not closed': '引号 " 没有闭合',
    "the quote ' is not closed": "引号 ' 没有闭合",
    "{} needs a shell; quote it, or let a shell run the command{}": "{0} 需要 shell；请加引号，或让 shell 来运行该命令",
    "the command has a second line; quote the line break, or let a shell run the command": (
        "命令有第二行；请给换行加引号，或让 shell 来运行该命令"
    ),
    "the line ends with a backslash; write the whole command on one line": ("行尾有反斜杠；请把整条命令写在一行里"),
    # typed/forms
    "the command is empty": "命令为空",
    "give the command to run: python train.py": "请给出要运行的命令：python train.py",
    "{} cannot be set in this form": "{0} 不能在这个表单中设置",
    "the batch has {} jobs; the limit is {}": "批量中共有 {0} 个任务，上限是 {1} 个",
    "there are no jobs": "没有任务",
    "use `tarmac add --batch FILE` for more": "更多任务请用 `tarmac add --batch FILE`",
    "write one command per line": "请每行写一条命令",
    "{}: {text}": "{0}：{1}",
    # typed/batch
    'each line must be an object: {{"command": …}}': '每一行都应是一个对象：{{"command": …}}',
    "the {} is empty": "{0} 为空",
    "unknown key {}{}": "未知的键 {0}",
    "{} is given twice": "{0} 出现了两次",
    "add: every job of the file has a command, so the command after --batch is not used": (
        "add：文件中的每个任务都有命令，--batch 之后的命令不会用到"
    ),
    "give a file or a command, not both": "文件和命令只能给出一个",
    "it has both a command and a shell string; leave out one of them": "同时有普通命令和 shell 命令；请去掉其中一个",
    "it has no command; name one in `command` or `shell`": "没有命令；请用 `command` 或 `shell` 给出",
    "the header has both command and shell; leave out one of them": "表头中同时有 command 和 shell；请去掉其中一个",
    "unknown column {}{}": "未知的列 {0}",
    "the column {} is there twice": "列 {0} 出现了两次",
    # typed/sweep
    "sweep: this makes {} jobs; the limit is {}": "sweep：共有 {0} 个任务，上限是 {1} 个",
    "give fewer values, or use --sample N": "减少取值，或使用 --sample N",
    "give fewer values": "减少取值",
    "sweep: --zip needs a value for each row, but the file has {} rows and {} has {} values": (
        "sweep：--zip 要求每一行都有一个值，而文件有 {0} 行，{1} 有 {2} 个值"
    ),
    "give as many values as rows, or leave out --zip": "请给出与行数相同的取值，或去掉 --zip",
    "sweep: --where would be tried on {} combinations; the limit is {}": (
        "sweep：--where 需要检查 {0} 种组合，上限是 {1} 种"
    ),
    "sweep: --zip needs lists of one length, but {} has {} values and {} has {}": (
        "sweep：--zip 要求取值个数相同，而 {0} 有 {1} 个，{2} 有 {3} 个"
    ),
    "give as many values for each parameter, or leave out --zip": "请让每个参数的取值个数相同，或去掉 --zip",
    "sweep: --where excludes all {} combinations": "sweep：--where 排除了全部 {0} 种组合",
    "loosen the condition": "请放宽条件",
    "sweep: the command is missing": "sweep：缺少命令",
    "quote it as one word: tarmac sweep 'python train.py --lr {{lr}}' lr=1e-3,3e-4": (
        "请把命令放在引号中：tarmac sweep 'python train.py --lr {{lr}}' lr=1e-3,3e-4"
    ),
    "sweep: parameter {} is also a column of {}": "sweep：参数 {0} 同时也是 {1} 的一列",
    "sweep: no parameters given": "sweep：没有给出参数",
    "give some, such as lr=1e-3,3e-4 seed=1..5, or --from params.csv": (
        "请给出参数，例如 lr=1e-3,3e-4 seed=1..5，或 --from params.csv"
    ),
    "sweep: with --fill, a parameter cannot be named {}": "sweep：使用 --fill 时，参数不能叫 {0}",
    "choose another name: {{{}}} is filled in when the job starts": "请换一个名称：{{{0}}} 会在任务启动时替换",
    "sweep: --seed applies to --sample": "sweep：--seed 只与 --sample 一起使用",
    "leave it out; write seed=1..5 for a parameter": "去掉它；作为参数请写 seed=1..5",
    "sweep: {} {}: the value {} of {} leaves the directory of the file": (
        "sweep：{0} {1}：{3} 的值 {2} 会离开文件所在的目录"
    ),
    "use values without `..` in paths": "路径中的取值不能含有 `..`",
    "sweep: {} would fill {}, which looks like a secret, but parameters are shown": (
        "sweep：{0} 会填入 {1}，它看起来是机密，而参数是可见的"
    ),
    "export {} and pass it with --env {}, or use a file per job: --env-file '{{file}}'": (
        "请 export {0} 并用 --env {1} 传递，或每个任务用一个文件：--env-file '{{file}}'"
    ),
    "sweep: {} {}: {text}": "sweep：{0} {1}：{2}",
    "this is the job with {}": "这是取值为 {0} 的任务",
    "sweep: {} cannot be the name of a parameter": "sweep：{0} 不能作为参数名",
    "use letters, digits and underscores, and begin with a letter or an underscore": (
        "请使用字母、数字和下划线，并以字母或下划线开头"
    ),
    "sweep: a parameter cannot be named {}": "sweep：参数不能叫 {0}",
    "choose another name: {{{}}} stands for the job's {}": "请换一个名称：{{{0}}} 表示任务的 {1}",
    "{} has more than a first number, a last number and a step": "{0} 除了起点、终点和步长之外还有别的内容",
    "{} is not a step; quote {} if it is a text: '\"{}\"'": "{0} 不是步长；如果 {1} 是文本，请加引号：'\"{2}\"'",
    "the range {} needs a step: {}..0.1": "范围 {0} 需要步长：{1}..0.1",
    "the step of {} must not be 0": "{0} 的步长不能为 0",
    "the step {} does not lead from {} to {}": "步长 {0} 不能从 {1} 到达 {2}",
    "{} has {} values; the limit is {}": "{0} 有 {1} 个值，上限是 {2} 个",
    "sweep: {} is not a parameter": "sweep：{0} 不是参数",
    "write NAME=VALUES, such as lr=1e-3,3e-4 or seed=1..5, and quote the whole command as one word": (
        "请写成 NAME=VALUES，例如 lr=1e-3,3e-4 或 seed=1..5，并把整条命令放在引号中"
    ),
    "sweep: parameter {} is given twice": "sweep：参数 {0} 出现了两次",
    "give all values at once: {}=1,2,3": "请一次给出所有取值：{0}=1,2,3",
    "sweep: {} has the value {} twice": "sweep：{0} 的取值 {1} 出现了两次",
    "it has more than {} values": "取值超过 {0} 个",
    "{} is not a range of numbers": "{0} 不是数的范围",
    "sweep: {}: {text}": "sweep：{0}：{1}",
    "examples: lr=1e-3,3e-4, seed=1..5, x=0..1..0.25": "例如：lr=1e-3,3e-4、seed=1..5、x=0..1..0.25",
    'the quote " is not closed before a comma or the end; write "" for a quote in it': (
        '引号 " 在逗号或结尾之前没有闭合；其中的引号请写 ""'
    ),
    "sweep: {{{}}} {text}, where a value cannot be quoted": "sweep：{{{0}}} {1}，那里的值无法加引号",
    "is an index in […], which the shell calculates": "是 […] 中的下标，会由 shell 计算",
    "quote the whole word if it is a text": "如果是文本，请给整个词加引号",
    "follows a backslash": "在反斜杠之后",
    "leave out the backslash: Tarmac quotes the value": "去掉反斜杠：Tarmac 会给值加引号",
    "follows $ or the name of a variable": "在 $ 或变量名之后",
    "write {{{{ and }}}} for ${{{{NAME}}}} of the shell": "shell 的 ${{{{NAME}}}} 请用 {{{{ 和 }}}} 来写",
    "is in a comment": "在注释中",
    "leave out the comment": "去掉注释",
    "sweep: the shell string has $(…) or `…` in double quotes, where values cannot be quoted safely": (
        "sweep：shell 命令的双引号中有 $(…) 或 `…`，那里的值无法安全地加引号"
    ),
    "assign it to a variable first: x=$(…)": "请先赋给一个变量：x=$(…)",
    "sweep: the shell would calculate with {} or run it": "sweep：shell 会用 {0} 做计算，或者执行它",
    "give whole numbers here, such as seed=1..5": "这里请给出整数，例如 seed=1..5",
    "sweep: the shell string has {} in ((…)), where values cannot be quoted safely": (
        "sweep：shell 命令的 ((…)) 中有 {0}，那里的值无法安全地加引号"
    ),
    "assign the parts to variables first, and write ( ( for subshells": ("请先把各部分赋给变量；子 shell 请写成 ( ("),
    "sweep: the shell string has $[…], where values cannot be quoted": (
        "sweep：shell 命令中有 $[…]，那里的值无法加引号"
    ),
    "write $((…))": "请写 $((…))",
    "sweep: the shell string has {} where values cannot be quoted safely": (
        "sweep：shell 命令中有 {0}，那里的值无法安全地加引号"
    ),
    "sweep: the shell string has a here-document, where values cannot be quoted": (
        "sweep：shell 命令中有 here-document，那里的值无法加引号"
    ),
    "use printf": "请使用 printf",
    "sweep: a backslash at the end of a line follows a word, where values cannot be quoted safely": (
        "sweep：行尾的反斜杠紧跟在词后面，那里的值无法安全地加引号"
    ),
    "write a space before the backslash": "请在反斜杠之前加一个空格",
    "sweep: {}: {} is a list or an object": "sweep：{0}：{1} 是列表或对象",
    "give a text or a number": "请给出文本或数",
    "sweep: --from {}: unknown kind of file": "sweep：--from {0}：未知的文件类型",
    "name it .csv, .tsv, .json, .jsonl or .yaml, or pass it as -": (
        "文件名应以 .csv、.tsv、.json、.jsonl 或 .yaml 结尾，或用 - 传入"
    ),
    "sweep: {} has no rows": "sweep：{0} 中没有数据行",
    "give one row of values for each job": "请为每个任务给出一行取值",
    "sweep: {} is not a list of objects": "sweep：{0} 不是对象的列表",
    'write [{{"lr": 1e-3, "seed": 1}}, …]': '请写成 [{{"lr": 1e-3, "seed": 1}}, …]',
    "sweep: {} is not a list of rows": "sweep：{0} 不是行的列表",
    "write `- {{lr: 1e-3, seed: 1}}`, one row a line": "请写成 `- {{lr: 1e-3, seed: 1}}`，每行一条",
    "sweep: {}, line {}: {text}": "sweep：{0} 第 {1} 行：{2}",
    "sweep: {}, line {}: {} for {}": "sweep：{0} 第 {1} 行：取值与列数不符（{2} / {3}）",
    "check the quotes in this line": "请检查这一行的引号",
    "write a list of JSON objects": "请写成 JSON 对象的列表",
    "sweep: {}, line {} is not an object": "sweep：{0} 第 {1} 行不是对象",
    'write {{"lr": 1e-3, "seed": 1}}': '请写成 {{"lr": 1e-3, "seed": 1}}',
    "check the YAML before this place": "请检查此处之前的 YAML",
    "sweep: {} is not YAML: {}": "sweep：{0} 不是 YAML：{1}",
    "save it as plain text": "请保存为纯文本",
    "sweep: {}, {} {} {} {}, unlike the first row": "sweep：{0} 第 {2} 行的列与第一行不同：{4}",
    "name the same values in all rows": "请让所有行有相同的列",
    "sweep: {}, {} {} repeats {} {}": "sweep：{0} 第 {2} 行与第 {4} 行重复",
    "write one JSON object a line": "请每行写一个 JSON 对象",
    "sweep: {} has two columns named {}": "sweep：{0} 中有两列都叫 {1}",
    "rename one of them": "请给其中一列改名",
    "sweep: {} has a single brace": "sweep：{0} 中有单个花括号",
    "write {{{{ and }}}} for braces, and {{NAME}} for a parameter": "花括号请写两遍，参数请写 {{NAME}}",
    "sweep: {{{}}} is not a parameter": "sweep：{{{0}}} 不是参数",
    "{} {{{{ and }}}} for braces in the command": "命令中的花括号请写两遍",
    "sweep: parameter {} is not used": "sweep：参数 {0} 没有用到",
    "{}write {{{}}} in the command or in an option": "请在命令或选项中写 {{{1}}}",
    "sweep: the command is empty": "sweep：命令为空",
    "give one: `tarmac sweep 'python train.py --lr {{lr}}' lr=1,2`": (
        "请给出命令：`tarmac sweep 'python train.py --lr {{lr}}' lr=1,2`"
    ),
    "sweep: the command is empty for {}": "sweep：取值为 {0} 时命令为空",
    "give the program a value in every row": "请在每一行中给出程序",
    "sweep: the shell string is empty": "sweep：shell 命令为空",
    "give one: `tarmac sweep -c './train {{lr}}' lr=1,2`": "请给出命令：`tarmac sweep -c './train {{lr}}' lr=1,2`",
    "sweep: the command cannot be split into words: {}": "sweep：命令无法拆分成单词：{0}",
    "check its quotes": "请检查引号",
    "sweep: --where: {} {text}": "sweep：--where：{0} {1}",
    "is not expected here": "不应出现在这里",
    "is not expected here; write `x not in (1, 2)`": "不应出现在这里；请写 `x not in (1, 2)`",
    "must be a list in parentheses: x in (1, 2)": "应为括号中的列表：x in (1, 2)",
    "is there instead of {}": "出现在应为 {0} 的位置",
    "write comparisons such as `lr < 1e-3 or seed == 1`; quote texts": (
        "请写比较式，例如 `lr < 1e-3 or seed == 1`；文本请加引号"
    ),
    "sweep: --where: {} is not a number and cannot be compared with {}": (
        "sweep：--where：{0} 不是数，不能用 {1} 比较"
    ),
    "compare it with == or !=": "请用 == 或 != 比较",
    "sweep: --where has too long a sum or product": "sweep：--where 中的算式太长",
    "write fewer numbers in a row": "请减少连续的数",
    "sweep: --where: no parameter is named {}": "sweep：--where：没有名为 {0} 的参数",
    "{} If it is a text, put it in quotes: {}": "如果是文本，请加引号：{1}",
    "sweep: --where: {} cannot be read": "sweep：--where：无法理解 {0}",
    "sweep: --where has too many levels of parentheses": "sweep：--where 的括号嵌套过深",
    "write it more simply": "请写得简单一些",
    "sweep: --where divides by 0": "sweep：--where 中除以了 0",
    "exclude 0 first: `x != 0 and …`": "请先排除 0：`x != 0 and …`",
    "sweep: --where: {} is not a number": "sweep：--where：{0} 不是数",
    "{} takes numbers": "{0} 需要数",
    # agent/run/shim/exec_command.py and agent/environments/activation.py
    "{}: command not found (PATH searched: {})": "{0}：找不到命令（搜索的 PATH：{1}）",
    "{}: the log exists already and is not overwritten; append to it or choose another file": (
        "{0}：日志已经存在，不会覆盖；请追加，或换一个文件"
    ),
    "{}: the working directory does not exist": "{0}：工作目录不存在",
    "{}: cannot enter the working directory: {}": "{0}：无法进入工作目录：{1}",
    "{}: cannot be started: {}": "{0}：无法启动：{1}",
    "{}: reserved for Tarmac's own files; choose another file": "{0}：是 Tarmac 自用的文件；请换一个文件",
    "{}: cannot write the log: the directory {} does not exist": "{0}：无法写日志：目录 {1} 不存在",
    "{}: cannot write the log: {}": "{0}：无法写日志：{1}",
    "{}: is a directory": "{0}：是目录",
    "{}: not executable": "{0}：没有执行权限",
    "{}: its interpreter is missing (see its #! line)": "{0}：找不到解释器（见 #! 行）",
    "{}: no such file": "{0}：文件不存在",
    "{}: not a program (a script needs a #! line)": "{0}：不是程序（脚本需要 #! 行）",
    "{}: the arguments and the environment are too long for the kernel": "{0}：参数和环境变量太长，超出内核限制",
    "{}: cannot be executed: {}": "{0}：无法执行：{1}",
    "{}: not a virtual environment": "{0}：不是虚拟环境",
    "{}: not a conda environment": "{0}：不是 conda 环境",
    # agent/gpus: why a GPU is not healthy
    "vanished from the driver": "从驱动中消失（掉卡）",
    "its driver is gone: {}": "驱动不可用：{0}",
    "Xid {}: {text}": "Xid {0}：{1}",
    "a bad memory row could not be taken out of use": "有坏的显存行无法停用",
    "an NVLink error": "NVLink 错误",
    "fell off the bus": "从总线上掉线（掉卡）",
    "a memory error that spread to other programs": "显存错误波及其他程序",
    "its system processor does not answer": "系统处理器（GSP）没有响应",
    "its system processor failed": "系统处理器（GSP）出错",
    "memory errors that could not be corrected": "无法纠正的显存错误",
    "it did not start": "没有启动",
}
