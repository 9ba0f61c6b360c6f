"""Files that torch.save of PyTorch 2.13 and 1.6 wrote, so that no test needs PyTorch.

What was saved, of logits and labels as below; the ending .1.6 tells the older version:

parameter    {"logits": Parameter(logits.t().contiguous().t()), "labels": labels, "epoch": 3}
slices       {"val_logits": logits[:2], "val_y": labels[:2], "test_logits": logits[2:], ...}
types        ((logits[:2].bfloat16(), labels[:2].to(torch.uint16)),
              (logits[2:].half(), labels[2:] == 2))
lists        (logits.tolist(), labels.tolist())
arrays       {"logits": logits.numpy(), "labels": labels.numpy()}
negated      (torch._neg_view(logits), labels)
expanded     (logits[:1].expand(4, 3), labels)
float8       (logits.to(torch.float8_e4m3fn), labels)
sparse       (logits.to_sparse(), labels)
weights      Linear(3, 2).state_dict()
convolution  Conv2d(1, 1, 2).state_dict()
checkpoint   {"epoch": 3, "model_state_dict": Linear(3, 2).state_dict(), "optimizer": {...}}
model        Linear(3, 2)
script       torch.jit.save(torch.jit.script(Linear(3, 2)), ...)
before 1.6   parameter, saved with _use_new_zipfile_serialization=False
"""

import base64
import io
import lzma
import zipfile

LOGITS = [[1.5, -2.0, 0.25], [0.0, 3.0, -1.0], [2.0, -0.5, 4.0], [-1.5, 0.5, 1.0]]
LABELS = [0, 1, 2, 1]
_PACKED = """
{Wp48S^xk9=GL@E0stWa8~^|S5YJf5;D-PeH(dZI61-q2m(_Ag*lmX@KZcgQs<N-
p01y9e1VE#VNx%%TjdPjCDox9@USX}Hv&p2?Zd@QHYs4lt7yNy953fkM@U$&<EbVi4Eu#Q5{h~V4JyQI`)4wO1&JvVP05=oK
U2ifLou~pfSmmZk|1A_|@UH}AW&m#sZkO=Gl_Ytfj~Pzb0j(NnV64S~UW`b}nG&UD+tY0);fV;PEC?w>hJOyv<&TWAZO`ha$
_7ER|LpRJ&md$W4f0?@vO>)&i@;}r8Ve?60b5=Cfm>e|lv?cIz4?_LB9@Pb(_oXV@4A`%%nl4Wjkt37WR!7v@-
>#%dgTTe;rkpj*Bwrtn!u5JD!OcpOmTRoTFNWCo3~-
x8pX$$SD3Sw)WMkt6iUxFz`~G!@=N?{^bWhPmE17pz&Tg`nUUKMZ`?@qRF6L^Gp7AamUU_Idj>bj*exvypW87WqF8!t!bTsM
`c<1*B_o5_oLZOuLc`6qG0p|@dm~+_&-RffoT2s9lp7K2nqMwq{V+1k8h-v~-
PU6_<zSMBQT1a0;K27xRTL%`Y^?7^%vV%5^1qFDI6ER~XCWCDEsSE8-L+|AlW!fGwMYb|@4qpN;_xCf9#ARN-}mWoD-nvj&{
%n4of=bl12Vk)HicGoQh7WODU;p+S#9{xYOPfGFN&Ikc`aGi^03aF5<{p<l;)uKG8ji(0-Rzsrci-)?35F;3ptT*-
2%QlAJ^L*L4FYFM?DiB%kJ_SMMQ9<PIJYXoYj)D|1Mlo-kJ4TBA(GLjVy*6B~To{uGcGaNBVN-
4O@lsyDtb?Jz9A5*Npr&P3R(5hU4;N2#sI@U0;7FKdjuU4TgBTm-
7E3`_IxuqRF48`RM=ULOATVGke~lMBocv=@{t3$WiJ?qD)MkpVKG^m(f5wm$VdV4N=AlNos6qIOo9W6zFJr#FuC<oyv;}><3
2q<>~o%){Eo<woOsuct=+Dw(plm8`USO{1hqtpT;6=zB`i<Q85v8y+M)Pq4#JOH5#MO1z~tLFpcaH6|jeV=2DawKG5VQell4
d2@wK@!bFb4el-Zd?w`PGzm#eGEdcZy&nmGAdP{U`js}AnMz%1dW$sxE;`A!Z2@&CGBk|?P#-
LVVaq@g31(034CMMWp#U?aqjcBTh=fIqgrMt*6m2W5k$+EBtbSs>#iyN?l#T?DA!TIa0vWPJIv05i3R5<StJ)>39Snx`bm0o
J)4*(Nk*Sw&QA_ik4wXQ`-8Glw4ShxGjR2$$-*s=#z*6_a)uw8>l8?F_J{u=IR<|`8c9cY}&*)5R_JR+^%#{Oe9J(tkl-
T9fF24=@td~tT|&x{(J;DV6dH`ET~N(2SIhC`m>vS-{hD5R3u+<8Y@vE0g>b>T0t9biy%vwMlqU-
O>*t;2uwAjTmu<SAuplPF0kuldk>n?L4x=@5WzI5LmzMHvW6z)g%l8PtuH*iI0ahL^nnyu46yFR@)RL;PatVbigoPd7HVZC`
rj4h-
Ac2&&tA7^mZuZZv5E@~IZoq|9YFV$2OR##tvUZ*JejVDiytQt5yN`(tsDJ^DMJS5V4`JIbYittDb}XMM7sOwB%b(jyO%BlW&
jpS`*#k=~peJ%zxZWtlTp^9!6Zlvr)zO;#w~(Sy6$D5bHqWd8tMFrY$53??+;^Lg7N<nURIhv@8S*&3{LKHxxQ*86yK(uDO7
YOdZzn|^)`)`VS<T8h34PwgC<k>@ZT+WdjdPdNSTa*#uSth9EY*9CSYWUhd`;5m8-39=N;&Sr^MNck+H?Ec)5kACL|E-
2qTE93r{e;#7VUBVKSb*S>Zr!QW49RcH&#`b*2HfyUA!$K3q!6?5HVqk6rz6!4boCaE@j5)IRc5uzoxTO+nhuBi2(i?<!+uE
`3DtTnukIN>OgG7?Wr-
z7iMeVRcg7RE_K=P1VvYDDv!r_+XN72%LGChWUr&(3J@Z8yzl%S~^nF{=;s{jO@81Xt6c19!@gv`Qd;rEd30k%Ie*cK0(jZ}
>G)s=%<^hojh*S?8~P#sT@&&(t_U4B7!hsfLfg!rB*AzvEYfN!ahYX$%_<rWcl7X%Ifdvx-pQ}jXIN)=F^g$dZrFetNP1dBV
unoP=Y(t8Ubxd^A!E#P^Tq=TjjmP6yUGCQvY6@VS@gGeuXkDPM*ph9yvp2;fnj({U3S%(9D^TH*i4G8=z=p_t!*~`-
r#m@)V;rFpv<~FR)^Cq(&1wA=JE>%?f5?x#bV-
g({u(T*{O$q(bF~F8h$6M#V_h)E1iWo=FUsZ}EGWV$Ne9^+tnpt8Z_r=vo3MxgwhZPGuDmnOY!W@<qi1y|+8fb+1hC!g|c_Z
D4H<*3ekv>cF^kJM3381aOOb#>QF0Z^!`&Q4-0`G#-
`R`N5pg+?ddD9(qIB%W&ip2FJ<>{y(O3C6y>kAB59pMf6L2U85DE;gJ|ABPX7RP&B%*~dp>B?*>cA(>Se+`Lz%EnfQde>4*E
s$nTh6(k?S81!X0YOXP5o(T+wG{#a7*#Y~6OJnJt+;9jt;?4xA_S6smx0$dv?TT|_R2-
745l=qPVkXn0JV514utav_Lz+=v9isa0xT$^gmJ@;McdRcNHI7AQpq}=^Vg-$y8-
wqS4+JV;(F_}(y=_MIzp{>@mlmFT&b|D??}Pf_{eAUa7FPr%@-Bzb?NNy&HA_QlM*u{4ou-
=n*jr+y}&h7Hjt(6#MRHQgOUn={+FQet_rd6@B*9><yoYD7S3u+!0LJiiNzl#lfvs+M}lTe7pEm>K2M>zK+01QN~38#(-
jj&uW74)G=t~+5o95Aykh)C3#SqPi|aVyrSp94<m0mlb4A&BME>BV<X_?cOAnpBkVK>RKpr9dLxmBL=VCwYkbkdxSQl{?_|F
BuYGVUpXDkbmpaXCM>1D$1Uw-tc;9AWU-kxzdxZj^3w~b}kcj)o$6Xp>FStCIaib(8U%!)$=9mjiPRwVzaAw>J$2j_xvnm02
nK@DX$;Yw``mrQ*emJLTZt6fa>+t`bfmX8*PrQ6!@On><65acu&OjcgF{u=Ljl)(9ctvy)M1ouzHKO3g^-
$4N4Cd&!X?#18?xs^IACgav~q8{aD$H`n-
X7F$E<e=N>TC6(anz5R|K#^9<rHNP){voNdth#ACq&wZ#lmPwcYh>?mFeT;V9@ZR0q0oS6L0zWrz@VmE9s<P$ZqN`akx_iPh
5{Z_-oEepa?sxLUEKL(vGUut;ER%3OglNaQjzH~Wd|pd@kdg$fk`<CC2DF=bs0e7#r{Ap&z51Zu{M``l7MAzbVmUN_1F!3I%
%1<gJpSKuLFo|np{1G-j!t~S^2Tx1-U&`^vq7v^-31gxX63;pp*gOdzY%BzD&`1&ZT5kcHiu{JXwS?$x<Uh(e-
3zX+iS=ilgUCGa#*nXJ0R*!|jC#M{!*uh7@4kaQ>HocnvP<>B2pSQM5Y7-VQ-&lb}2pdk;@b-eo8ibz-Iw4~&^*aGi{yuZzW
T*8A=T2^@Ts1S)8`heZ*8R<nkA8C?vGu*0qNb*51=$jpd`w&N~{@a$~Z#Eb(v?FN^jQuw!VT?5p`E9^jqPMB#zlp1<bD0_Ew
w9g)>8UZH7bB?MH66GP-^~O;{(~6{C#>RAYJY@Dy5FT76+m^eT_8a|geAF;jYby(?w6eN>-
TrxDhi+K?zz@>ZI<#St@w<VfnB?6GBYQ?|V)7v~9^e2qpxKAjSvvLG^}eV2GnIx?Jn5t?3M!KYs)eVP;0mJNvRwA8hPvHT0T
#OyAcUqLJty4%bKe$=`<R<&$HNZ?5uW3(eZWTXl#L`iUnUiRF)%=0z1JstliP_y{tUgP-
^NrHCXr6CQ|Pz~`I0`^lFNGU+fzlpQE%N~X_hqNpN+y#BJJ-wGuCUYP<1+CN4Zvqht^6re0Z44`%VB&YR0h!+*n*WP=+z$5p
aw(C?XR^f&cJj-
`C$(RV450yf&dgnUf5n7KH*J(4KukDJQ&U1|7eT+Sml`HNjqFfN)QGjO`{BM%pih6o@uU%Xmwv>Hc9UHs3t7MIy&Zcb}ncb1
mj@oi^B$$^=yXas>U>7&+B3jyDjuTxtR6pxAj%cfz20p)DJbgZs3fu=Ln>WU5!woQkM1?G9EsY{OA&qLtF*7!RVc$~f^hGb`
h?m?GZ*kdcOPJg#j)0se%Be5xgL%f(F7I*ektLof3#J-
cRVPY<U(1<%k1giGKu2R<cPC3(})zQ?w#epMK0C%9<~s6_B!0R;x?5?D!THdbb-Xo{y_k8ueLI}SKo5ds?P+C({omt(&=#z7
ch3bG@w4IG5Sd*_-b{52t$QRj%}y8MFbk)K*td9g(-
fO>|h41fl)GHx*KMq#uyvFuTxm|}KpAkN4Vi>{%eZ!pJ)duyi&7Ytu&yf&pZJfsp9?3qKy*s%jn&a12tT2-
})9sS8xW!wkX_mv2Ensr1_$H%)X&M0%S?4*^Z`jnn+Y{4=p3`d*XQs`pI0mg8YUHf3~jdCQ25U~#ihqjaZ{{*0(KXPO6oXw;
rfnB2?R~y0W!}J5YXEP04b7I?m9Q2}(pciJ95xq86nf9Bp5KNFG^?y=L+<;1PH%lyUkR8{t`Qdn#j#!Fufx48!5L6*45C{?g
v1P0l+vr>oFg~x#GeYsqo^$GVRu0TX(q-
nvshut!JdXjJ8YO**?|7I9tTcCcx@M<Ov3i<Mmk_nEhXal)ilXCZ#zdn*`+gc%%lR61suK->2A17yKPXG~aDAmB-hg!?%z*Y
HC2rJHCQxC0<>6Crx#+d@t_3ZVTK2Bl{KZlj_$b9{;p8NQ92KN2i|_Gmx6#<;dXq-
n?W&|w`*D#51UF(3qvRQbNZ1g1sD8;hQ>J0Gf893yf%kb^tlI0`u}b>fldw7jop2YwLUU3z#W+W+%l=pr*5ji1Oq;CWsTtgV
5|^|i-
QoS019%B_8tL$wGSkbouPP%w>r!wHSJ_Qg2Gk@RVe8L9lCeua!mro01A}98(cdIIa=P3a`vbgl3MpbA5$yYGcrA~LYJiw1;X
i&v!KO;cb1W9vJeI1S=Dxi*iDWnyWISfPYBE|#!)d3>#8VE^0L6gdnkB;<e05f(ATp4HEUjgf1LvWoh-
n7Hg*PDQR&U1tHqX5MnDEOi3kNla1T;;VhMO4*gLyKq7!`8{+3Yb~TAzB^d5)P-
idid@<yg8!<EjPEB!zn${zLi){YOaPep7j`j1cJ6xeUnI;r^@V`CB=e5`81wGp$MQ)+b!w@%Pe&XpZRE;5IYlv|15403Ww+!
(wG=lz{_$pbffnZR=s*5*lU(W7IJgjt&dWZbxI(X3NFFJ1?y;IXqEq0?S+TaCl&4O_;%j`HoQeOu;L?gFQ}3fPeW-
5zRgNjieU)^lj5o955`gl@USlCD9G8`Kj!jx<?bFmO^lEzuQwWBwq1>qR(kqUN6iDcOJ<`jjN$`c|x91!;`%&=BCkS&L$6Xc
ve{67rSX4ahvxORZ8ZSLEihmiX#W%n|(RDua0XEu9$3UW7t7wWEN>j^_qxH{ZtzDyb#2a7LJ3Z(tuLWjevF-
1=S_P^ThyBI)OBWJjGQ0`vNTIsedh#AIb+>hD7u)a3C!ITfn$={zbA+xZbMrVEFEzvC=kblLU+E7kr#P%peOON*?r|OPOLCk
=}hArtnQd0ONOP5=!F(;-
+A$Y4(UHGy7>g%k8K99TsXhRs;|R$GWZhU|UusE${)K1Ve}PwImsqsaA=Q+nLKi6OkpfD=XB($6TOxYMd^SL^ONeBgvd=#?Y
9XFWZTKQ%{+px)AHa9`lb=G-5ERFL?$NtS7(Ut+4EXgA=G+GQIY0UNkv-W&y%b?IdnJ9N?Kbg|I4z#=Na<N~5e%c(Yh-
1rCEMOG=28YoOe4n|k~QU5D^5Bb*d3h@@L<zi0}}$!HdQER^<|@spB|e1C=yHs1&E#O<C@=PQ9KG8;C63l#mrVf%t>(Lij#s
n<UqZOaVTL0`vX_#;~b`A?o0eHg=zC<LyneO-%h5YQ?e4WAjtx4s{y-
}jr%QhGhsQ5lCwpk3(T{(4M2Xr_a53MDGDX6Hxdi|^Os$S-uZdG-*K`_PkCX<h2Qgk$<Uv^TuQTD#i|iI?><0o-
Xywv2HkzY~CvTeGMK61E<~TK{Jc?3&@r+9#a@s-
ulT8(Mq7sDRUhrf1Kvk|SVF74w?DTY`Xw$eKoB>ea59+OEjic&9yhPAA@uf%mile|4%MPxVmn*tllT3qZ5OK*=Y%4viRb;Fl
N6g6dSff>E@$QcWc$9(2^=$%ZQukWRbGqKQDxo5Rz)4z8nf3+`KuI~$-
m6ECjolWYmuz&AVQT}SG6k~JUFXSXr1Lxw44#bkcv2I){qqt@7hl9d4A)WZzfg!`Mk`okb$eBrtQzT}HB{Jp7;dvhjFu`6hy
xDEmH6XFAVMzEL2ga`<l%<T+heUm(CPdah{P6LVSua+SAW5`Lw-
$}3)a}Clxwvv1J7!9KUwg?^#PRme)x!~3|xw**yw@TBb2x$K&H6~z_M$bM)gX3<(_N8frHv@7BLQ#d4vTV4+Nd6P2UrH=~e=
&8ob&D28$=urDk9=d!YT+L{YJwmlF01Fc2Xb+@P(7)Yh20@N8~7nN*0`nyFFk5XGS~iv_2%TXgnCB!LhiG@(Z;n0R`(1gM1S
~I+`mb{s;sT74O+b3uX}+Nb1E5^GWUKT*yNBTu4Qs#ue$VdsQwG~%{++vkE2`h(#p*u^hn56IGe;!J`T|{nJHjK<Rfkx8<^%
C2|MeJkb(-^gb~S82kE$hqJLF~0V6MSHdBHPA~uORlT+U-
j4b^DP8ihay91{xe7GodR+Et$aZp>9VNS%tvbB5Is+|x+_PvJ06>`G{9YHSu0y{_VHB$w2>7p!)k86;XhB{j#**TX8F{oIHh
sRv=DP?d<a4%}u17p+9^1I15$I)fkH+m!Ij&e4qTad1yZx)Ge8w*|}3PUW-i~s>LURVQ*uP-=G*?6GM?w-
|Oy!M3B>s@$i{idl)`Y9X11WstA-v9srFm);TNvXkz00Gk~fsO(IuL$-~vBYQl0ssI200dcD
"""
_ARCHIVE = lzma.decompress(base64.b85decode(_PACKED.replace("\n", "")))
with zipfile.ZipFile(io.BytesIO(_ARCHIVE)) as _files:
    GENUINE = {name: _files.read(name) for name in _files.namelist()}
