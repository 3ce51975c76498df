import json
o=[json.load(open(f"/tmp/me/old{i}.json")) for i in (1,2)]; n=[json.load(open(f"/tmp/me/new{i}.json")) for i in (1,2)]
import math
ro=rn=0
for k in o[0]:
    a=[min(x[k][j] for x in o) for j in range(4)]; b=[min(x[k][j] for x in n) for j in range(4)]
    ro+=math.log(a[3]/a[2]); rn+=math.log(b[3]/b[2])
    print(f"{k:12} first {a[0]}/{a[1]} -> {b[0]}/{b[1]}   run {a[2]}/{a[3]} ({a[3]/a[2]:.2f}) -> {b[2]}/{b[3]} ({b[3]/b[2]:.2f})")
print(math.exp(ro/len(o[0])), math.exp(rn/len(o[0])))
